/* SPDX-License-Identifier: Apache-2.0
 *
 * getcontext, setcontext and swapcontext for aarch64. Registers are kept where the C library keeps
 * them, so programs may read, change and copy a ucontext_t. The switch saves what the ABI preserves
 * across a call, FPCR and FPSR, and loads the registers of arguments, too, for contexts that
 * makecontext has made. It leaves by a return, which needs no landing pad.
 *
 * A context without the mark UC_OURS was saved by the kernel for a signal handler, or by somebody
 * else; foreign.cpp hands it to the C library.
 */
#include "offsets.h"

#define SYS_rt_sigprocmask 135
#define SIG_BLOCK 0
#define SIG_SETMASK 2
#define BYTES_OF_MASK 8

/* The 64-bit mark. */
.macro load_mark to
    movz \to, #(UC_OURS & 0xffff)
    movk \to, #((UC_OURS >> 16) & 0xffff), lsl #16
    movk \to, #((UC_OURS >> 32) & 0xffff), lsl #32
    movk \to, #((UC_OURS >> 48) & 0xffff), lsl #48
.endm

/* Saves the registers of the caller of this function in (x0), as they are when it returns 0. */
/* Leaves the mark in x9. */
.macro save_registers
    add x10, x0, #UC_REGISTERS
    str xzr, [x10]
    stp x18, x19, [x10, #18 * 8]
    stp x20, x21, [x10, #20 * 8]
    stp x22, x23, [x10, #22 * 8]
    stp x24, x25, [x10, #24 * 8]
    stp x26, x27, [x10, #26 * 8]
    stp x28, x29, [x10, #28 * 8]
    str x30, [x10, #30 * 8]
    mov x11, sp
    str x11, [x0, #UC_SP]
    str x30, [x0, #UC_PC]
    str xzr, [x0, #UC_PSTATE]
    movz w11, #(FP_MAGIC & 0xffff)
    movk w11, #(FP_MAGIC >> 16), lsl #16
    mov w12, #FP_BYTES
    add x13, x0, #UC_FP_RECORD
    stp w11, w12, [x13]
    mrs x11, fpsr
    mrs x12, fpcr
    str w11, [x0, #UC_FPSR]
    str w12, [x0, #UC_FPCR]
    add x11, x0, #UC_VECTORS
    stp q8, q9, [x11, #8 * 16]
    stp q10, q11, [x11, #10 * 16]
    stp q12, q13, [x11, #12 * 16]
    stp q14, q15, [x11, #14 * 16]
    str xzr, [x0, #UC_NEXT_RECORD] /* there is none */
    load_mark x9
    str x9, [x0, #UC_FAULT_ADDRESS]
.endm

/* Loads all from (x15) and goes on there. */
.macro load_registers
    .cfi_undefined x30
    ldr w11, [x15, #UC_FPSR]
    ldr w12, [x15, #UC_FPCR]
    msr fpsr, x11
    mrs x13, fpcr
    cmp w12, w13
    beq 8f
    msr fpcr, x12 /* takes long */
8:  add x11, x15, #UC_VECTORS
    ldp q8, q9, [x11, #8 * 16]
    ldp q10, q11, [x11, #10 * 16]
    ldp q12, q13, [x11, #12 * 16]
    ldp q14, q15, [x11, #14 * 16]
    ldr x11, [x15, #UC_SP]
    mov sp, x11
    ldr x16, [x15, #UC_PC]
    add x15, x15, #UC_REGISTERS
    ldp x18, x19, [x15, #18 * 8]
    ldp x20, x21, [x15, #20 * 8]
    ldp x22, x23, [x15, #22 * 8]
    ldp x24, x25, [x15, #24 * 8]
    ldp x26, x27, [x15, #26 * 8]
    ldp x28, x29, [x15, #28 * 8]
    ldr x30, [x15, #30 * 8]
    ldp x0, x1, [x15]
    ldp x2, x3, [x15, #2 * 8]
    ldp x4, x5, [x15, #4 * 8]
    ldp x6, x7, [x15, #6 * 8]
    ret x16
.endm

/* The system call for masks; x1: the new one, x2: where the old one goes. */
.macro change_mask how
    mov x0, #\how
    mov x3, #BYTES_OF_MASK
    mov x8, #SYS_rt_sigprocmask
    svc #0
    tbnz x0, #63, 9f
.endm

.macro begin name
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    hint #34 /* a landing pad */
.endm

.macro end name
9:  b tulle_ucontext_refused_mask
    .cfi_endproc
    .size \name, . - \name
.endm

/* Goes to label 1 if masks are left out. */
.macro unless_masks
    adrp x11, tulle_ucontext_keeps_masks
    ldrb w11, [x11, #:lo12:tulle_ucontext_keeps_masks]
    cbz w11, 1f
.endm

    .text

begin getcontext
    stp x2, x3, [x0, #UC_REGISTERS + 2 * 8]
    stp x4, x5, [x0, #UC_REGISTERS + 4 * 8]
    stp x6, x7, [x0, #UC_REGISTERS + 6 * 8]
    save_registers
    unless_masks
    add x2, x0, #UC_SIGMASK
    mov x1, #0
    change_mask SIG_BLOCK
1:  mov x0, #0
    ret
end getcontext

begin swapcontext
    save_registers
    ldr x10, [x1, #UC_FAULT_ADDRESS]
    cmp x9, x10
    bne tulle_ucontext_swap_to_foreign
    mov x15, x1
    unless_masks
    add x2, x0, #UC_SIGMASK
    add x1, x15, #UC_SIGMASK
    change_mask SIG_SETMASK
1:  load_registers
end swapcontext

begin setcontext
    load_mark x9
    ldr x10, [x0, #UC_FAULT_ADDRESS]
    cmp x9, x10
    bne tulle_ucontext_set_foreign
    mov x15, x0
    unless_masks
    add x1, x15, #UC_SIGMASK
    mov x2, #0
    change_mask SIG_SETMASK
1:  load_registers
end setcontext

/* Where the function of a context returns to: x19 is the context that comes next. An unwinder, */
/* which looks at the instruction before, finds the end of the call chain. */
    .p2align 4
    .type tulle_ucontext_after_entry, @function
    .cfi_startproc
    .cfi_undefined x30
    nop
    .globl tulle_ucontext_after_entry
    .hidden tulle_ucontext_after_entry
tulle_ucontext_after_entry:
    mov x0, x19
    bl tulle_ucontext_end
    brk #1
    .cfi_endproc
    .size tulle_ucontext_after_entry, . - tulle_ucontext_after_entry

    .section .note.GNU-stack, "", @progbits
