// SPDX-License-Identifier: Apache-2.0
#include "arch/asm_backend.hpp"
#include "arch/sparc/context_entry.hpp"

#include <cstdint>

#if defined(__sparc_v9__)
#define TULLE_FLUSH_WINDOWS "flushw"
#else
#define TULLE_FLUSH_WINDOWS "ta 3"
#endif

#define TULLE_EXCHANGE                                                                             \
    "std %fp, [%sp + 96]\n\t"                                                                      \
    "st %fsr, [%sp + 104]\n\t"                                                                     \
    "st %sp, [%i0]\n\t"                                                                            \
    "ld [%i1], %sp\n\t"                                                                            \
    "ld [%sp + 104], %fsr\n\t"                                                                     \
    "ldd [%sp + 96], %fp\n\t"

asm(TULLE_SWITCH(tulle_switch_flushing, 112, TULLE_FLUSH_WINDOWS, TULLE_EXCHANGE));
asm(TULLE_SWITCH(tulle_switch_trapping, 112, "ta 3", TULLE_EXCHANGE));

namespace tulle::arch {
namespace {

using word = std::uintptr_t;

/// What the kernel stores at %sp when it saves a window, and the argument words behind it: of every
/// frame.
struct frame_head {
    word local[8];
    word in[8];
    word arguments[8];
};

/// What the stack of a context holds before it runs; all but `entry` is that of any suspended
/// context.
struct first_frame {
    frame_head head;
    word caller; ///< its %sp, and %fp of the routine
    word call;
    word fsr;
    word padding;
    frame_head entry; ///< the window that `restore` loads
};

static_assert(offsetof(first_frame, caller) == 96 && offsetof(first_frame, fsr) == 104 &&
              sizeof(first_frame) % 8 == 0);

} // namespace

void asm_backend::make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                       void* argument) noexcept {
    constexpr std::uintptr_t k_alignment = 8;
    auto const top = (reinterpret_cast<std::uintptr_t>(stack_low) + size) & ~(k_alignment - 1);
    auto* const frame = reinterpret_cast<first_frame*>(top - sizeof(first_frame));
    *frame = first_frame{};
    frame->caller = reinterpret_cast<word>(&frame->entry);
    frame->call = context_entry_call();
    asm volatile("st %%fsr, %0" : "=m"(frame->fsr));
    frame->entry.local[0] = reinterpret_cast<word>(entry);
    frame->entry.local[1] = reinterpret_cast<word>(argument);
    made.sp = frame;
}

registers asm_backend::saved_registers(context const&) noexcept { return {}; }

} // namespace tulle::arch
