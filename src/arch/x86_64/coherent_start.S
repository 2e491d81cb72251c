/* SPDX-License-Identifier: Apache-2.0
 *
 * The linker at run time asks here for the address of tulle_coherent_start when it relocates an
 * object file that has checks, after this library and before any code of the program may run: that
 * of a resolver, or of a malloc of the program, which constructors of libraries call. So the table
 * of states is there from then on, and in no program without checks. Only the shared library asks
 * so (TULLE_IS_RELOCATED_BEFORE): what is a part of the program is relocated with it, before any
 * function of C can be called, and there the first constructor maps the table. */

    .text
#ifndef TULLE_IS_RELOCATED_BEFORE
    .weak tulle_coherent_start
    .type tulle_coherent_start, @function
    .p2align 4
tulle_coherent_start:
    .cfi_startproc
    endbr64
    jmp tulle_coherent_do_start
    .cfi_endproc
    .size tulle_coherent_start, . - tulle_coherent_start
#else
    .globl tulle_coherent_start
    .type tulle_coherent_start, @gnu_indirect_function
    .p2align 4
tulle_coherent_start:
    .cfi_startproc
    endbr64
    subq $8, %rsp
    .cfi_def_cfa_offset 16
    call tulle_coherent_prepare_start
    leaq tulle_coherent_do_start(%rip), %rax
    addq $8, %rsp
    .cfi_def_cfa_offset 8
    ret
    .cfi_endproc
    .size tulle_coherent_start, . - tulle_coherent_start
#endif

    .section .note.GNU-stack, "", @progbits
