/* SPDX-License-Identifier: Apache-2.0 */
/* void tulle_outermost_call(void (*function)(void*), void* argument): its return address is undefined for unwinders, so that to them the stack ends
   here. An exception that leaves `function` finds no handler, as in a thread of the C library. */
    .text
    .globl tulle_outermost_call
    .hidden tulle_outermost_call
    .type tulle_outermost_call, %function
    .p2align 4
tulle_outermost_call:
    .cfi_startproc
    .cfi_undefined x30
    hint #34 /* a landing pad */
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    mov x9, x0
    mov x0, x1
    mov x29, xzr
    blr x9
    ldp x29, x30, [sp], #16
    .cfi_restore x29
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size tulle_outermost_call, . - tulle_outermost_call
    .section .note.GNU-stack, "", %progbits
