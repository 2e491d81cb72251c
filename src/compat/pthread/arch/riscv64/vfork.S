/* SPDX-License-Identifier: Apache-2.0 */
/* vfork: the child runs on the caller's stack and in its memory until it is another program or ends. It returns first, over the frame that the
   parent returns from afterwards, so the return address is kept in its register meanwhile. Linux has no such call here but clone. */
#define SYS_clone 220
#define CLONE_VM 0x100
#define CLONE_VFORK 0x4000
#define SIGCHLD 17
    .text
    .globl vfork
    .type vfork, %function
    .globl __vfork
    .set __vfork, vfork
    .p2align 4
vfork:
    .cfi_startproc
    addi sp, sp, -16
    .cfi_def_cfa_offset 16
    sd ra, 8(sp)
    .cfi_offset ra, -8
    call tulle_begin_vfork
    ld ra, 8(sp)
    .cfi_restore ra
    addi sp, sp, 16
    .cfi_def_cfa_offset 0
    li a0, (CLONE_VM | CLONE_VFORK | SIGCHLD)
    mv a1, zero /* the caller's stack */
    mv a2, zero
    mv a3, zero
    mv a4, zero
    li a7, SYS_clone
    ecall
    addi sp, sp, -16
    .cfi_def_cfa_offset 16
    sd ra, 8(sp)
    .cfi_offset ra, -8
    call tulle_end_vfork
    ld ra, 8(sp)
    .cfi_restore ra
    addi sp, sp, 16
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size vfork, . - vfork
    .section .note.GNU-stack, "", %progbits
