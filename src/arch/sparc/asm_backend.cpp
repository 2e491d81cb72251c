// SPDX-License-Identifier: Apache-2.0
#include "arch/asm_backend.hpp"

#include <cstdint>

#if defined(__sparc_v9__)
#define TULLE_FLUSH_WINDOWS "flushw"
#else
#define TULLE_FLUSH_WINDOWS "ta 3"
#endif

// After the flush no other window is in registers, so %fp may change: `restore` finds the caller's
// window where it points.
#define TULLE_SWITCH(name, flush)                                                                  \
    ".text\n\t.align 32\n\t.type " #name ", #function\n\t.globl " #name "\n\t.hidden " #name       \
    "\n" #name ":\n\t"                                                                             \
    ".cfi_startproc\n\t"                                                                           \
    "save %sp, -112, %sp\n\t"                                                                      \
    ".cfi_def_cfa_register 30\n\t.cfi_window_save\n\t.cfi_register 15, 31\n\t" flush "\n\t"        \
    "std %fp, [%sp + 96]\n\t"                                                                      \
    "st %fsr, [%sp + 104]\n\t"                                                                     \
    "st %sp, [%i0]\n\t"                                                                            \
    "ld [%i1], %sp\n\t"                                                                            \
    "ld [%sp + 104], %fsr\n\t"                                                                     \
    "ldd [%sp + 96], %fp\n\t"                                                                      \
    "ret\n\t"                                                                                      \
    "restore\n\t"                                                                                  \
    ".cfi_endproc\n\t.size " #name ", . - " #name "\n"

asm(TULLE_SWITCH(tulle_switch_flushing, TULLE_FLUSH_WINDOWS));
asm(TULLE_SWITCH(tulle_switch_trapping, "ta 3"));

// The first code of every context, entered by the `ret` of the switch in the window that make() has
// laid out. The return address is undefined for the unwinder: the call chain ends here, and for a
// walk by frame pointers with %fp = 0. Unwinders look up the instruction before the one they
// stopped at, hence the nop.
asm(R"(
    .text
    .align 16
    .type tulle_context_entry, #function
    .cfi_startproc
    .cfi_undefined 15
    nop
    .globl tulle_context_entry
    .hidden tulle_context_entry
tulle_context_entry:
    call %l0
    mov %l1, %o0
    ta 5
    .cfi_endproc
    .size tulle_context_entry, . - tulle_context_entry
)");

extern "C" void tulle_context_entry();

namespace tulle::arch {
namespace {

using word = std::uintptr_t;

// What the kernel stores at %sp when it saves a window, and the argument words behind it: of every
// frame.
struct frame_head {
    word local[8];
    word in[8];
    word arguments[8];
};

// What the stack of a context holds before it runs; all but `entry` is that of any suspended
// context.
struct first_frame {
    frame_head head;
    word caller; // its %sp, and %fp of the routine
    word call;
    word fsr;
    word padding;
    frame_head entry; // the window that `restore` loads
};

static_assert(offsetof(first_frame, caller) == 96 && offsetof(first_frame, fsr) == 104 &&
              sizeof(first_frame) % 8 == 0);

constexpr word k_call_and_delay_slot = 8;

} // namespace

void asm_backend::make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                       void* argument) noexcept {
    constexpr std::uintptr_t k_alignment = 8;
    auto const top = (reinterpret_cast<std::uintptr_t>(stack_low) + size) & ~(k_alignment - 1);
    auto* const frame = reinterpret_cast<first_frame*>(top - sizeof(first_frame));
    *frame = first_frame{};
    frame->caller = reinterpret_cast<word>(&frame->entry);
    frame->call = reinterpret_cast<word>(&tulle_context_entry) - k_call_and_delay_slot;
    asm volatile("st %%fsr, %0" : "=m"(frame->fsr));
    frame->entry.local[0] = reinterpret_cast<word>(entry);
    frame->entry.local[1] = reinterpret_cast<word>(argument);
    made.sp = frame;
}

registers asm_backend::saved_registers(context const&) noexcept { return {}; }

} // namespace tulle::arch
