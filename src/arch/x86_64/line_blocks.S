/* SPDX-License-Identifier: Apache-2.0
 *
 * void tulle_copy_line(void* to, void const* from)
 * void tulle_fill_line(void* to, uint64_t word)
 *
 * Four loads and stores of 16 bytes. These instructions leave the upper halves of the registers
 * alone, so that 16 bytes of each are all that is to be kept. Stores are ordered as any are, so
 * that no fence is due, and go by the cache: whoever asks for a line uses it next.
 */

.macro function name
    .globl \name
    .hidden \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
.endm

    .text
    function tulle_copy_line
    movups %xmm0, -16(%rsp) /* the red zone has 128 bytes */
    movups %xmm1, -32(%rsp)
    movups %xmm2, -48(%rsp)
    movups %xmm3, -64(%rsp)
    movaps (%rsi), %xmm0
    movaps 16(%rsi), %xmm1
    movaps 32(%rsi), %xmm2
    movaps 48(%rsi), %xmm3
    movaps %xmm0, (%rdi)
    movaps %xmm1, 16(%rdi)
    movaps %xmm2, 32(%rdi)
    movaps %xmm3, 48(%rdi)
    movups -16(%rsp), %xmm0
    movups -32(%rsp), %xmm1
    movups -48(%rsp), %xmm2
    movups -64(%rsp), %xmm3
    ret
    .cfi_endproc
    .size tulle_copy_line, . - tulle_copy_line

    function tulle_fill_line
    movups %xmm0, -16(%rsp)
    movq %rsi, %xmm0
    punpcklqdq %xmm0, %xmm0
    movaps %xmm0, (%rdi)
    movaps %xmm0, 16(%rdi)
    movaps %xmm0, 32(%rdi)
    movaps %xmm0, 48(%rdi)
    movups -16(%rsp), %xmm0
    ret
    .cfi_endproc
    .size tulle_fill_line, . - tulle_fill_line

    .section .note.GNU-stack, "", @progbits
