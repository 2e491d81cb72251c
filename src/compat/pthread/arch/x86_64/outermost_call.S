/* SPDX-License-Identifier: Apache-2.0 */
/* void tulle_outermost_call(void (*function)(void*), void* argument): its return address is undefined for unwinders, so that to them the stack ends
   here. An exception that leaves `function` finds no handler, as in a thread of the C library. */
    .text
    .globl tulle_outermost_call
    .hidden tulle_outermost_call
    .type tulle_outermost_call, @function
    .p2align 4
tulle_outermost_call:
    .cfi_startproc
    .cfi_undefined rip
    endbr64
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rbp, 0
    movq %rdi, %rax
    movq %rsi, %rdi
    xorl %ebp, %ebp
    call *%rax
    popq %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore rbp
    ret
    .cfi_endproc
    .size tulle_outermost_call, . - tulle_outermost_call
    .section .note.GNU-stack, "", @progbits
