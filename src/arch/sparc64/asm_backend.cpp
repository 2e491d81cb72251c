// SPDX-License-Identifier: Apache-2.0
#include "arch/asm_backend.hpp"
#include "arch/sparc/context_entry.hpp"

#include <cstdint>

#define TULLE_EXCHANGE                                                                             \
    "stx %i7, [%sp + 2047 + 176]\n\t"                                                              \
    "stx %fsr, [%sp + 2047 + 184]\n\t"                                                             \
    "stx %sp, [%i0]\n\t"                                                                           \
    "ldx [%i1], %sp\n\t"                                                                           \
    "ldx [%sp + 2047 + 184], %fsr\n\t"                                                             \
    "ldx [%sp + 2047 + 176], %i7\n\t"                                                              \
    "add %sp, 192, %fp\n\t"

asm(TULLE_SWITCH(tulle_switch_flushing, 192, "flushw", TULLE_EXCHANGE));
asm(TULLE_SWITCH(tulle_switch_trapping, 192, "ta 3", TULLE_EXCHANGE));

namespace tulle::arch {
namespace {

using word = std::uintptr_t;

/// What the kernel stores at %sp when it saves a window, and the argument words behind it: of every
/// frame.
struct frame_head {
    word local[8];
    word in[8];
    word arguments[6];
};

/// What the stack of a context holds before it runs; `head`, `call` and `fsr` are those of any
/// suspended context.
struct first_frame {
    frame_head head;
    word call;
    word fsr;
    frame_head entry; ///< the window that `restore` loads
};

static_assert(offsetof(first_frame, call) == 176 && offsetof(first_frame, entry) == 192 &&
              sizeof(first_frame) % 16 == 0);

constexpr word k_bias = 2047;
} // namespace

void asm_backend::make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                       void* argument) noexcept {
    constexpr std::uintptr_t k_alignment = 16;
    auto const top = (reinterpret_cast<std::uintptr_t>(stack_low) + size) & ~(k_alignment - 1);
    auto* const frame = reinterpret_cast<first_frame*>(top - sizeof(first_frame));
    *frame = first_frame{};
    frame->call = context_entry_call();
    asm volatile("stx %%fsr, %0" : "=m"(frame->fsr));
    frame->entry.local[0] = reinterpret_cast<word>(entry);
    frame->entry.local[1] = reinterpret_cast<word>(argument);
    made.sp = reinterpret_cast<void*>(reinterpret_cast<word>(frame) - k_bias);
}

registers asm_backend::saved_registers(context const&) noexcept { return {}; }

} // namespace tulle::arch
