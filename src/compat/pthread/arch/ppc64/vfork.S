/* SPDX-License-Identifier: Apache-2.0 */
/* vfork: the child runs on the caller's stack and in its memory until it is another program or ends. It returns first, over the frame that the
   parent returns from afterwards, so the return address is kept in its register meanwhile. The system tells of errors by a bit of cr0, and then by
   a positive number. */
#define SYS_vfork 189
    .abiversion 2
    .text
    .globl vfork
    .type vfork, @function
    .globl __vfork
    .p2align 4
vfork:
    .cfi_startproc
0:  addis 2, 12, (.TOC. - 0b)@ha
    addi 2, 2, (.TOC. - 0b)@l
    .localentry vfork, . - vfork
    mflr 0
    std 0, 16(1)
    .cfi_offset 65, 16
    stdu 1, -32(1)
    .cfi_def_cfa_offset 32
    bl tulle_begin_vfork
    nop
    addi 1, 1, 32
    .cfi_def_cfa_offset 0
    ld 0, 16(1)
    mtlr 0
    .cfi_restore 65
    li 0, SYS_vfork
    sc
    bns 1f
    neg 3, 3
1:  mflr 0
    std 0, 16(1)
    .cfi_offset 65, 16
    stdu 1, -32(1)
    .cfi_def_cfa_offset 32
    bl tulle_end_vfork
    nop
    addi 1, 1, 32
    .cfi_def_cfa_offset 0
    ld 0, 16(1)
    mtlr 0
    .cfi_restore 65
    blr
    .cfi_endproc
    .size vfork, . - vfork
    .set __vfork, vfork
    .section .note.GNU-stack, "", @progbits
