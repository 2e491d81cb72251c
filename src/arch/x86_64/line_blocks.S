/* SPDX-License-Identifier: Apache-2.0
 *
 * void tulle_copy_lines(void* to, void const* from, size_t lines)
 * int tulle_copy_differing_lines(void* to, void const* from, void const* twin, size_t lines)
 * void tulle_fill_line(void* to, uint64_t word)
 *
 * By blocks of 16 bytes. These instructions leave the upper halves of the registers alone, so that
 * 16 bytes of each are all that is to be kept. Stores are ordered as any are, so that no fence is
 * due, and go by the cache: whoever asks for a line uses it next.
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

/* The red zone has 128 bytes. */
.macro keep number
    movups %xmm\number, -16 * (\number + 1)(%rsp)
.endm
.macro give_back number
    movups -16 * (\number + 1)(%rsp), %xmm\number
.endm

    .text
    function tulle_copy_lines
    testq %rdx, %rdx
    jz 2f
    keep 0
    keep 1
    keep 2
    keep 3
1:  movups (%rsi), %xmm0
    movups 16(%rsi), %xmm1
    movups 32(%rsi), %xmm2
    movups 48(%rsi), %xmm3
    movups %xmm0, (%rdi)
    movups %xmm1, 16(%rdi)
    movups %xmm2, 32(%rdi)
    movups %xmm3, 48(%rdi)
    addq $64, %rsi
    addq $64, %rdi
    decq %rdx
    jnz 1b
    give_back 0
    give_back 1
    give_back 2
    give_back 3
2:  ret
    .cfi_endproc
    .size tulle_copy_lines, . - tulle_copy_lines

    function tulle_copy_differing_lines
    xorl %eax, %eax
    shlq $2, %rcx /* blocks */
    jz 5f
    keep 0
    keep 1
1:  movups (%rsi), %xmm0
    movups (%rdx), %xmm1
    pcmpeqb %xmm0, %xmm1
    pmovmskb %xmm1, %r8d /* a bit for each byte that is the same */
    xorl $0xffff, %r8d
    jz 4f
    movl $1, %eax
    cmpl $0xffff, %r8d
    jne 3f
    movups %xmm0, (%rdi)
    jmp 4f
3:  bsfl %r8d, %r9d /* byte by byte: others may write those between */
    movzbl (%rsi, %r9), %r10d
    movb %r10b, (%rdi, %r9)
    leal -1(%r8), %r10d
    andl %r10d, %r8d
    jnz 3b
4:  addq $16, %rsi
    addq $16, %rdx
    addq $16, %rdi
    decq %rcx
    jnz 1b
    give_back 0
    give_back 1
5:  ret
    .cfi_endproc
    .size tulle_copy_differing_lines, . - tulle_copy_differing_lines

    function tulle_fill_line
    keep 0
    movq %rsi, %xmm0
    punpcklqdq %xmm0, %xmm0
    movaps %xmm0, (%rdi)
    movaps %xmm0, 16(%rdi)
    movaps %xmm0, 32(%rdi)
    movaps %xmm0, 48(%rdi)
    give_back 0
    ret
    .cfi_endproc
    .size tulle_fill_line, . - tulle_fill_line

    .section .note.GNU-stack, "", @progbits
