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
.macro entry name, does
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
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
    .cfi_endproc
    .size \name, . - \name
.endm

    .text
    entry tulle_coherent_load, tulle_coherent_do_load
    entry tulle_coherent_store, tulle_coherent_do_store
    entry tulle_coherent_load_range, tulle_coherent_do_load_range
    entry tulle_coherent_store_range, tulle_coherent_do_store_range
    entry tulle_coherent_load_rows, tulle_coherent_do_load_rows
    entry tulle_coherent_store_rows, tulle_coherent_do_store_rows

    entry tulle_directory_load, tulle_directory_do_load
    entry tulle_directory_store, tulle_directory_do_store

    .section .note.GNU-stack, "", @progbits
