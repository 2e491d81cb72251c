/* SPDX-License-Identifier: Apache-2.0 */
/* void tulle_outermost_call(void (*function)(void*), void* argument): its return address is undefined for unwinders, so that to them the stack ends
   here, and for walks by back chains, which end at a word of 0. An exception that leaves `function` finds no handler, as in a thread of the C
   library. */
    .abiversion 2
    .text
    .globl tulle_outermost_call
    .hidden tulle_outermost_call
    .type tulle_outermost_call, @function
    .p2align 4
tulle_outermost_call:
    .cfi_startproc
    .cfi_undefined 65
    mflr 0
    std 0, 16(1)
    addi 1, 1, -32
    .cfi_def_cfa_offset 32
    li 0, 0
    std 0, 0(1)
    std 2, 24(1)
    mr 12, 3
    mr 3, 4
    mtctr 12
    bctrl
    ld 2, 24(1)
    addi 1, 1, 32
    .cfi_def_cfa_offset 0
    ld 0, 16(1)
    mtlr 0
    blr
    .cfi_endproc
    .size tulle_outermost_call, . - tulle_outermost_call
    .section .note.GNU-stack, "", @progbits
