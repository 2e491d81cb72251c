/* SPDX-License-Identifier: Apache-2.0 */
    .abiversion 2
    .text
/* __sigsetjmp(environment, saves_mask) returns as often as it is jumped to, so the C library's own is not called but jumped to. It looks for the
   caller's r2 where a call by way of the linker's table has left it, in the caller's frame. */
    .globl __sigsetjmp
    .type __sigsetjmp, @function
    .p2align 4
__sigsetjmp:
    .cfi_startproc
0:  addis 2, 12, (.TOC. - 0b)@ha
    addi 2, 2, (.TOC. - 0b)@l
    .localentry __sigsetjmp, . - __sigsetjmp
    mflr 0
    std 0, 16(1)
    .cfi_offset 65, 16
    stdu 1, -48(1)
    .cfi_def_cfa_offset 48
    std 3, 32(1)
    std 4, 40(1)
    bl tulle_begin_sigsetjmp
    nop
    mr 12, 3
    ld 3, 32(1)
    ld 4, 40(1)
    addi 1, 1, 48
    .cfi_def_cfa_offset 0
    ld 0, 16(1)
    mtlr 0
    .cfi_restore 65
    mtctr 12
    bctr
    .cfi_endproc
    .size __sigsetjmp, . - __sigsetjmp

/* void tulle_call_on_stack(void* top, void (*function)(void*), void* argument). The frame on the other stack links back to the one on this. */
    .globl tulle_call_on_stack
    .hidden tulle_call_on_stack
    .type tulle_call_on_stack, @function
    .p2align 4
tulle_call_on_stack:
    .cfi_startproc
    mflr 0
    std 0, 16(1)
    .cfi_offset 65, 16
    std 31, -8(1)
    .cfi_offset 31, -8
    stdu 1, -48(1)
    .cfi_def_cfa_offset 48
    mr 31, 1
    .cfi_def_cfa_register 31
    clrrdi 3, 3, 4
    stdu 31, -32(3)
    mr 1, 3
    std 2, 24(1)
    mr 12, 4
    mr 3, 5
    mtctr 12
    bctrl
    ld 2, 24(1)
    mr 1, 31
    .cfi_def_cfa_register 1
    addi 1, 1, 48
    .cfi_def_cfa_offset 0
    ld 31, -8(1)
    .cfi_restore 31
    ld 0, 16(1)
    mtlr 0
    .cfi_restore 65
    blr
    .cfi_endproc
    .size tulle_call_on_stack, . - tulle_call_on_stack
    .section .note.GNU-stack, "", @progbits
