/* SPDX-License-Identifier: Apache-2.0
 *
 * void tulle_copy_lines(void* to, void const* from, size_t lines)
 * uint64_t tulle_copy_differing_lines(void* to, void const* from, void const* twin, size_t lines)
 * uint64_t tulle_copy_differing_lines_too(void* to, void const* from, void* twin, size_t lines)
 * void tulle_stream_lines(void* to, void const* from, size_t lines)
 * uint64_t tulle_stream_differing_lines(void* to, void const* from, void const* twin, size_t lines)
 * void tulle_fill_line(void* to, uint64_t word)
 *
 * By blocks of 16 bytes, or where tulle_has_wide_lines is not 0 by whole lines, with a mask of the
 * bytes that differ (AVX-512). Of the registers that are used no others know a part but those that
 * are kept here: the first instructions leave upper halves alone, and the second ones take a
 * register that the older ones do not have, so that these are none the slower behind them. Stores
 * are ordered as any are, so that no fence is due, and go by the cache: whoever asks for a line
 * uses it next. Those of streams are not: a fence is due (tulle_end_streams), and whole lines go to
 * memory.
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
.macro keep numbers:vararg
    .irp number, \numbers
    movups %xmm\number, -16 * (\number + 1)(%rsp)
    .endr
.endm
.macro give_back numbers:vararg
    .irp number, \numbers
    movups -16 * (\number + 1)(%rsp), %xmm\number
    .endr
.endm
.macro keep_wide
    vmovdqu64 %zmm16, -64(%rsp)
.endm
.macro give_back_wide
    vmovdqu64 -64(%rsp), %zmm16
.endm
.macro load_line from, a, b, c, d
    movups (\from), %xmm\a
    movups 16(\from), %xmm\b
    movups 32(\from), %xmm\c
    movups 48(\from), %xmm\d
.endm
.macro store_line to, with=movups
    \with %xmm0, (\to)
    \with %xmm1, 16(\to)
    \with %xmm2, 32(\to)
    \with %xmm3, 48(\to)
.endm

    .text
.macro copy name, with, with_wide
    function \name
    testq %rdx, %rdx
    jz 3f
    cmpb $0, tulle_has_wide_lines(%rip)
    jne 4f
    keep 0, 1, 2, 3
1:  load_line %rsi, 0, 1, 2, 3
    store_line %rdi, \with
    addq $64, %rsi
    addq $64, %rdi
    decq %rdx
    jnz 1b
    give_back 0, 1, 2, 3
3:  ret
4:  keep_wide
5:  vmovdqu64 (%rsi), %zmm16
    \with_wide %zmm16, (%rdi)
    addq $64, %rsi
    addq $64, %rdi
    decq %rdx
    jnz 5b
    give_back_wide
    ret
    .cfi_endproc
    .size \name, . - \name
.endm
    copy tulle_copy_lines, movups, vmovdqu64
    copy tulle_stream_lines, movntps, vmovntdq

/* too: what is copied goes to the twin as well. Each byte is loaded once for both.
 * streams: whole lines that differ do not go by the cache. */
.macro copy_differing name, too=0, streams=0
    function \name
    xorl %eax, %eax
    movl $1, %r11d /* the bit of the line */
    testq %rcx, %rcx
    jz 5f
    cmpb $0, tulle_has_wide_lines(%rip)
    jne 6f
    keep 0, 1, 2, 3, 4, 5, 6, 7
1:  load_line %rsi, 0, 1, 2, 3
    load_line %rdx, 4, 5, 6, 7
    pcmpeqb %xmm0, %xmm4
    pcmpeqb %xmm1, %xmm5
    pcmpeqb %xmm2, %xmm6
    pcmpeqb %xmm3, %xmm7
    pmovmskb %xmm7, %r8d /* a bit for each byte that is the same */
    pmovmskb %xmm6, %r9d
    pmovmskb %xmm5, %r10d
    shlq $16, %r8
    shlq $16, %r10
    orq %r9, %r8
    pmovmskb %xmm4, %r9d
    shlq $32, %r8
    orq %r9, %r10
    orq %r10, %r8
    xorq $-1, %r8
    jz 4f
    orq %r11, %rax
    cmpq $-1, %r8
    jne 3f
    .if \streams
    store_line %rdi, movntps
    .else
    store_line %rdi
    .endif
    .if \too
    store_line %rdx
    .endif
    jmp 4f
3:  bsfq %r8, %r9 /* byte by byte: others may write those between */
    movzbl (%rsi, %r9), %r10d
    movb %r10b, (%rdi, %r9)
    .if \too
    movb %r10b, (%rdx, %r9)
    .endif
    leaq -1(%r8), %r10
    andq %r10, %r8
    jnz 3b
4:  addq $64, %rsi
    addq $64, %rdx
    addq $64, %rdi
    addq %r11, %r11
    decq %rcx
    jnz 1b
    give_back 0, 1, 2, 3, 4, 5, 6, 7
5:  ret
6:  keep_wide
    kmovq %k1, %r8
7:  vmovdqu64 (%rsi), %zmm16
    vpcmpneqb (%rdx), %zmm16, %k1
    kortestq %k1, %k1
    jz 8f
    orq %r11, %rax
    .if \streams
    kortestq %k1, %k1 /* carry: all bytes */
    jc 9f
    .endif
    vmovdqu8 %zmm16, (%rdi){%k1}
    .if \too
    vmovdqu8 %zmm16, (%rdx){%k1}
    .endif
8:  addq $64, %rsi
    addq $64, %rdx
    addq $64, %rdi
    addq %r11, %r11
    decq %rcx
    jnz 7b
    kmovq %r8, %k1
    give_back_wide
    ret
    .if \streams
9:  vmovntdq %zmm16, (%rdi)
    jmp 8b
    .endif
    .cfi_endproc
    .size \name, . - \name
.endm
    copy_differing tulle_copy_differing_lines
    copy_differing tulle_copy_differing_lines_too, too=1
    copy_differing tulle_stream_differing_lines, streams=1

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
