/* SPDX-License-Identifier: Apache-2.0
 *
 * void tulle_keep_vectors(void (*call)(void*), void* argument): calls call(argument), and keeps
 * what the processor has of vector registers and of the x87. xsave is asked for what the system
 * has enabled, at offsets that end below AREA. Only code that was compiled for the plug-in calls
 * this, on processors that have it.
 */
#define AREA 2816 /* x87, SSE, AVX and AVX-512 in the standard format: 2688 at most */
#define HEADER 512
#define COMPONENTS 0xe7 /* x87, SSE, AVX; masks, upper halves and upper registers of AVX-512 */

    .text
    .globl tulle_keep_vectors
    .type tulle_keep_vectors, @function
    .p2align 4
tulle_keep_vectors:
    .cfi_startproc
    endbr64
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register rbp
    movq %rdi, %rcx
    movq %rsi, %rdi
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
    call *%rcx
    movl $COMPONENTS, %eax
    xorl %edx, %edx
    xrstor64 (%rsp)
    leave
    .cfi_def_cfa rsp, 8
    ret
    .cfi_endproc
    .size tulle_keep_vectors, . - tulle_keep_vectors

    .section .note.GNU-stack, "", @progbits
