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
    hint #34 /* a landing pad */
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    mov x29, sp
    bl tulle_begin_vfork
    ldp x29, x30, [sp], #16
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    mov x0, #(CLONE_VM | CLONE_VFORK | SIGCHLD)
    mov x1, xzr /* the caller's stack */
    mov x2, xzr
    mov x3, xzr
    mov x4, xzr
    mov x8, #SYS_clone
    svc #0
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    mov x29, sp
    bl tulle_end_vfork
    ldp x29, x30, [sp], #16
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size vfork, . - vfork
    .section .note.GNU-stack, "", %progbits
