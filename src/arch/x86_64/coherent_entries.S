/* SPDX-License-Identifier: Apache-2.0
 *
 * Slow paths of checks as instrumented code calls them (tulle/coherent_abi.h): they keep registers
 * that a call of C does not, and call functions of C that do the work (dsm/access_checks.cpp).
 *
 * preserve_most keeps the general registers, preserve_all the vector registers as well. Whatever
 * the processor has of these is saved by xsave, which every one has that has AVX, and most older
 * ones: it is asked for what the system has enabled, at offsets that end below AREA.
 */
#define AREA 2816 /* x87, SSE, AVX and AVX-512 in the standard format: 2688 at most */
#define HEADER 512
#define COMPONENTS 0xe7 /* x87, SSE, AVX; masks, upper halves and upper registers of AVX-512 */

.macro begin name
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
.endm

.macro finish name
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

/* The 8 words above leave rsp a multiple of 16 where it was one before the call. */
.macro keeps_most name, does
    begin \name
    call \does
    finish \name
.endm

.macro keeps_all name, does
    begin \name
    subq $AREA, %rsp
    andq $-64, %rsp
    xorl %eax, %eax /* xrstor wants a header of zeros but for what xsave writes into it */
    movq %rax, HEADER(%rsp)
    movq %rax, HEADER + 8(%rsp)
    movq %rax, HEADER + 16(%rsp)
    movq %rax, HEADER + 24(%rsp)
    movq %rax, HEADER + 32(%rsp)
    movq %rax, HEADER + 40(%rsp)
    movq %rax, HEADER + 48(%rsp)
    movq %rax, HEADER + 56(%rsp)
    movl $COMPONENTS, %eax
    xorl %edx, %edx
    xsave64 (%rsp)
    call \does
    movl $COMPONENTS, %eax
    xorl %edx, %edx
    xrstor64 (%rsp)
    leaq -64(%rbp), %rsp
    finish \name
.endm

    .text
    keeps_all tulle_coherent_load, tulle_coherent_do_load
    keeps_all tulle_coherent_store, tulle_coherent_do_store
    keeps_most tulle_coherent_load_range, tulle_coherent_do_load_range
    keeps_most tulle_coherent_store_range, tulle_coherent_do_store_range
    keeps_most tulle_coherent_load_rows, tulle_coherent_do_load_rows
    keeps_most tulle_coherent_store_rows, tulle_coherent_do_store_rows

    .section .note.GNU-stack, "", @progbits
