/* SPDX-License-Identifier: Apache-2.0
 *
 * Slow paths of checks as instrumented code calls them (tulle/coherent_abi.h): they keep registers
 * that a call of C does not, and call functions of C that do the work (dsm/access_checks.cpp).
 *
 * preserve_most keeps the general registers, preserve_all the vector registers as well. The
 * functions that do the work are compiled to use none of these (dsm/coherent_host.hpp), so that
 * entries of both kinds are alike.
 */

/* The 8 words leave rsp a multiple of 16 where it was one before the call. */
.macro call_of_c does
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register rbp
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    call \does
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rax
    popq %rbp
    .cfi_def_cfa rsp, 8
    ret
.endm

.macro begin name
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
.endm

.macro finish name
    .cfi_endproc
    .size \name, . - \name
.endm

.macro entry name, does
    begin \name
    call_of_c \does
    finish \name
.endm

/* Ranges of more than 8 lines of coherent memory, rdi to rsi, whose states allow the access, as most
 * are: words of states are or-ed together, in r11, and the last one overlaps the one before it.
 * rax is the line, rcx how many more there are after the first 8. */
.macro entry_of_range name, does, forbidding
    begin \name
    pushq %rax
    .cfi_adjust_cfa_offset 8
    pushq %rcx
    .cfi_adjust_cfa_offset 8
    movq %rdi, %rax
    movq %rsi, %rcx
    shrq $RANGE_SHIFT, %rax
    shrq $RANGE_SHIFT, %rcx
    cmpl $RANGE, %eax
    jne 2f
    cmpl $RANGE, %ecx
    jne 2f
    movq %rdi, %rax
    movq %rsi, %rcx
    shrq $LINE_SHIFT, %rax
    shrq $LINE_SHIFT, %rcx
    subq %rax, %rcx
    subq $7, %rcx
    jle 2f
    movq STATES(%rax, %rcx), %r11
1:  orq STATES(%rax), %r11
    addq $8, %rax
    subq $8, %rcx
    ja 1b
    movabsq $\forbidding, %rax
    testq %rax, %r11
    jne 2f
    popq %rcx
    .cfi_remember_state
    .cfi_adjust_cfa_offset -8
    popq %rax
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_restore_state
2:  popq %rcx
    .cfi_adjust_cfa_offset -8
    popq %rax
    .cfi_adjust_cfa_offset -8
    call_of_c \does
    finish \name
.endm

/* As in tulle/coherent_abi.h, and the bits that forbid an access in each of 8 states. */
.set RANGE_SHIFT, 44
.set RANGE, 2
.set LINE_SHIFT, 6
.set STATES, 0x7FFF0000
.set NO_LOAD, 0x0202020202020202
.set NO_LOAD_OR_STORE, 0x0303030303030303

    .text
    entry tulle_coherent_load, tulle_coherent_do_load
    entry tulle_coherent_store, tulle_coherent_do_store
    entry_of_range tulle_coherent_load_range, tulle_coherent_do_load_range, NO_LOAD
    entry_of_range tulle_coherent_store_range, tulle_coherent_do_store_range, NO_LOAD_OR_STORE
    entry tulle_coherent_load_rows, tulle_coherent_do_load_rows
    entry tulle_coherent_store_rows, tulle_coherent_do_store_rows

    entry tulle_directory_load, tulle_directory_do_load
    entry tulle_directory_store, tulle_directory_do_store

    .section .note.GNU-stack, "", @progbits
