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
    .cfi_undefined ra
    addi sp, sp, -16
    .cfi_def_cfa_offset 16
    sd ra, 8(sp)
    sd s0, 0(sp)
    .cfi_offset s0, -16
    mv t1, a0
    mv a0, a1
    mv s0, zero
    jalr t1
    ld ra, 8(sp)
    ld s0, 0(sp)
    .cfi_restore s0
    addi sp, sp, 16
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size tulle_outermost_call, . - tulle_outermost_call
    .section .note.GNU-stack, "", %progbits
