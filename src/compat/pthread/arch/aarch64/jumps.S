/* SPDX-License-Identifier: Apache-2.0 */
    .text
/* __sigsetjmp(environment, saves_mask) returns as often as it is jumped to, so the C library's own is not called but jumped to. */
    .globl __sigsetjmp
    .type __sigsetjmp, %function
    .p2align 4
__sigsetjmp:
    .cfi_startproc
    hint #34 /* a landing pad */
    stp x29, x30, [sp, #-32]!
    .cfi_def_cfa_offset 32
    .cfi_offset x29, -32
    .cfi_offset x30, -24
    stp x0, x1, [sp, #16]
    mov x29, sp
    bl tulle_begin_sigsetjmp
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x29, x30, [sp], #32
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    br x16
    .cfi_endproc
    .size __sigsetjmp, . - __sigsetjmp

/* void tulle_call_on_stack(void* top, void (*function)(void*), void* argument) */
    .globl tulle_call_on_stack
    .hidden tulle_call_on_stack
    .type tulle_call_on_stack, %function
    .p2align 4
tulle_call_on_stack:
    .cfi_startproc
    hint #34
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    mov x29, sp
    .cfi_def_cfa_register x29
    and x9, x0, #-16
    mov sp, x9
    mov x0, x2
    blr x1
    mov sp, x29
    .cfi_def_cfa_register sp
    ldp x29, x30, [sp], #16
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size tulle_call_on_stack, . - tulle_call_on_stack
    .section .note.GNU-stack, "", %progbits
