/* SPDX-License-Identifier: Apache-2.0
 *
 * The linker at run time asks here for the address of tulle_coherent_start when it relocates an
 * object file that has checks, after this library and before any code of the program may run: that
 * of a resolver, or of a malloc of the program, which constructors of libraries call. So the table
 * of states is there from then on, and in no program without checks. A program that is linked
 * statically relocates itself before it has a thread pointer, without which nothing of C may run:
 * there the table is mapped by the first constructor. */

.set SYS_ARCH_PRCTL, 158
.set ARCH_GET_FS, 0x1003

    .text
    .globl tulle_coherent_start
    .type tulle_coherent_start, @gnu_indirect_function
    .p2align 4
tulle_coherent_start:
    .cfi_startproc
    endbr64
    subq $8, %rsp
    .cfi_def_cfa_offset 16
    movl $SYS_ARCH_PRCTL, %eax
    movl $ARCH_GET_FS, %edi
    movq %rsp, %rsi
    movq $0, (%rsp)
    syscall
    cmpq $0, (%rsp)
    je 1f
    call tulle_coherent_prepare_start
1:  leaq tulle_coherent_do_start(%rip), %rax
    addq $8, %rsp
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size tulle_coherent_start, . - tulle_coherent_start

    .section .note.GNU-stack, "", @progbits
