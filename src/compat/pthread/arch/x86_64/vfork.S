/* SPDX-License-Identifier: Apache-2.0 */
/* vfork: the child runs on the caller's stack and in its memory until it is another program or ends. It returns first, over the frame that the
   parent returns from afterwards, so the return address is kept in a register meanwhile. */
    .text
    .globl vfork
    .type vfork, @function
    .globl __vfork
    .set __vfork, vfork
    .p2align 4
vfork:
    .cfi_startproc
    endbr64
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    call tulle_begin_vfork
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    .cfi_register rip, rdi
    movl $58, %eax
    syscall
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset rip, 0
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    movq %rax, %rdi
    call tulle_end_vfork
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size vfork, . - vfork
    .section .note.GNU-stack, "", @progbits
