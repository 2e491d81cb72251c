/* SPDX-License-Identifier: Apache-2.0 */
    .text
/* __sigsetjmp(environment, saves_mask) returns as often as it is jumped to, so the C library's own is not called but jumped to. */
    .globl __sigsetjmp
    .type __sigsetjmp, @function
    .p2align 4
__sigsetjmp:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    call tulle_begin_sigsetjmp
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    jmp *%rax
    .cfi_endproc
    .size __sigsetjmp, . - __sigsetjmp

/* void tulle_call_on_stack(void* top, void (*function)(void*), void* argument) */
    .globl tulle_call_on_stack
    .hidden tulle_call_on_stack
    .type tulle_call_on_stack, @function
    .p2align 4
tulle_call_on_stack:
    .cfi_startproc
    endbr64
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbp, 0
    movq %rsp, %rbp
    .cfi_def_cfa_register rbp
    movq %rdi, %rsp
    andq $-16, %rsp
    movq %rdx, %rdi
    call *%rsi
    leave
    .cfi_def_cfa rsp, 8
    .cfi_restore rbp
    ret
    .cfi_endproc
    .size tulle_call_on_stack, . - tulle_call_on_stack
    .section .note.GNU-stack, "", @progbits
