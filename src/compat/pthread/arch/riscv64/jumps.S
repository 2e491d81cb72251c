/* SPDX-License-Identifier: Apache-2.0 */
    .text
/* __sigsetjmp(environment, saves_mask) returns as often as it is jumped to, so the C library's own is not called but jumped to. */
    .globl __sigsetjmp
    .type __sigsetjmp, %function
    .p2align 4
__sigsetjmp:
    .cfi_startproc
    addi sp, sp, -32
    .cfi_def_cfa_offset 32
    sd ra, 24(sp)
    .cfi_offset ra, -8
    sd a0, 8(sp)
    sd a1, 0(sp)
    call tulle_begin_sigsetjmp
    mv t1, a0
    ld a0, 8(sp)
    ld a1, 0(sp)
    ld ra, 24(sp)
    .cfi_restore ra
    addi sp, sp, 32
    .cfi_def_cfa_offset 0
    jr t1
    .cfi_endproc
    .size __sigsetjmp, . - __sigsetjmp

/* void tulle_call_on_stack(void* top, void (*function)(void*), void* argument) */
    .globl tulle_call_on_stack
    .hidden tulle_call_on_stack
    .type tulle_call_on_stack, %function
    .p2align 4
tulle_call_on_stack:
    .cfi_startproc
    addi sp, sp, -16
    .cfi_def_cfa_offset 16
    sd ra, 8(sp)
    sd s0, 0(sp)
    .cfi_offset ra, -8
    .cfi_offset s0, -16
    mv s0, sp
    .cfi_def_cfa_register s0
    andi sp, a0, -16
    mv a0, a2
    jalr a1
    mv sp, s0
    .cfi_def_cfa_register sp
    ld ra, 8(sp)
    ld s0, 0(sp)
    .cfi_restore ra
    .cfi_restore s0
    addi sp, sp, 16
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size tulle_call_on_stack, . - tulle_call_on_stack
    .section .note.GNU-stack, "", %progbits
