// SPDX-License-Identifier: Apache-2.0
#include "arch/asm_backend.hpp"

#include <cstdint>

// After the flush no other window is in registers, so %fp may change: `restore` finds the caller's
// window where it points.
#define TULLE_SWITCH(name, flush)                                                                  \
    ".text\n\t.align 32\n\t.type " #name ", #function\n\t.globl " #name "\n\t.hidden " #name       \
    "\n" #name ":\n\t"                                                                             \
    ".cfi_startproc\n\t"                                                                           \
    "save %sp, -192, %sp\n\t"                                                                      \
    ".cfi_def_cfa_register 30\n\t.cfi_window_save\n\t.cfi_register 15, 31\n\t" flush "\n\t"        \
    "stx %i7, [%sp + 2047 + 176]\n\t"                                                              \
    "stx %fsr, [%sp + 2047 + 184]\n\t"                                                             \
    "stx %sp, [%i0]\n\t"                                                                           \
    "ldx [%i1], %sp\n\t"                                                                           \
    "ldx [%sp + 2047 + 184], %fsr\n\t"                                                             \
    "ldx [%sp + 2047 + 176], %i7\n\t"                                                              \
    "add %sp, 192, %fp\n\t"                                                                        \
    "ret\n\t"                                                                                      \
    "restore\n\t"                                                                                  \
    ".cfi_endproc\n\t.size " #name ", . - " #name "\n"

asm(TULLE_SWITCH(tulle_switch_flushing, "flushw"));
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
    word arguments[6];
};

// What the stack of a context holds before it runs; `head`, `call` and `fsr` are those of any
// suspended context.
struct first_frame {
    frame_head head;
    word call;
    word fsr;
    frame_head entry; // the window that `restore` loads
};

static_assert(offsetof(first_frame, call) == 176 && offsetof(first_frame, entry) == 192 &&
              sizeof(first_frame) % 16 == 0);

constexpr word k_bias = 2047;
constexpr word k_call_and_delay_slot = 8;

} // namespace

void asm_backend::make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                       void* argument) noexcept {
    constexpr std::uintptr_t k_alignment = 16;
    auto const top = (reinterpret_cast<std::uintptr_t>(stack_low) + size) & ~(k_alignment - 1);
    auto* const frame = reinterpret_cast<first_frame*>(top - sizeof(first_frame));
    *frame = first_frame{};
    frame->call = reinterpret_cast<word>(&tulle_context_entry) - k_call_and_delay_slot;
    asm volatile("stx %%fsr, %0" : "=m"(frame->fsr));
    frame->entry.local[0] = reinterpret_cast<word>(entry);
    frame->entry.local[1] = reinterpret_cast<word>(argument);
    made.sp = reinterpret_cast<void*>(reinterpret_cast<word>(frame) - k_bias);
}

registers asm_backend::saved_registers(context const&) noexcept { return {}; }

} // namespace tulle::arch
