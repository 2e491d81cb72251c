// SPDX-License-Identifier: Apache-2.0
//
// What the switches of 32 and 64 bits have in common: the routine around the exchange of the stack
// pointers, and the first code of a context. For one translation unit, which defines both here.
#pragma once

#include <cstdint>

// `exchange` stores %i7, %fp where it must, %fsr and %sp of this context, and loads those of the
// other one. After the flush no other window is in registers, so %fp may change: `restore` finds
// the caller's window where it points.
#define TULLE_SWITCH(name, frame_bytes, flush, exchange)                                           \
    ".text\n\t.align 32\n\t.type " #name ", #function\n\t.globl " #name "\n\t.hidden " #name       \
    "\n" #name ":\n\t"                                                                             \
    ".cfi_startproc\n\t"                                                                           \
    "save %sp, -" #frame_bytes ", %sp\n\t"                                                         \
    ".cfi_def_cfa_register 30\n\t.cfi_window_save\n\t.cfi_register 15, 31\n\t" flush               \
    "\n\t" exchange "ret\n\t"                                                                      \
    "restore\n\t"                                                                                  \
    ".cfi_endproc\n\t.size " #name ", . - " #name "\n"

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

// `ret` goes on behind the call that %i7 names, and behind its delay slot.
inline std::uintptr_t context_entry_call() noexcept {
    constexpr std::uintptr_t k_call_and_delay_slot = 8;
    return reinterpret_cast<std::uintptr_t>(&tulle_context_entry) - k_call_and_delay_slot;
}

} // namespace tulle::arch
