/* SPDX-License-Identifier: Apache-2.0 */
/* The linker's --wrap sends what the run time itself calls here, and so past the functions of this library. Constructors of other libraries may call
   these before anything has been found. The C library's functions do not bring back the r2 of this library: a local entry of 1 tells the linker to
   have their callers save it and load it again, and that r2 need not be this library's here, nor r12 the address. */
#define TULLE_INTERPOSED(name) \
    .globl __wrap_##name; .hidden __wrap_##name; .type __wrap_##name, @function; \
    .p2align 4; __wrap_##name: .localentry __wrap_##name, 1; mflr 11; bcl 20, 31, 2f; 2: mflr 12; mtlr 11; \
    addis 11, 12, (tulle_libc_##name - 2b)@ha; addi 11, 11, (tulle_libc_##name - 2b)@l; ld 0, 0(11); cmpdi 0, 0; beq 1f; mr 12, 0; mtctr 12; bctr; \
    1: addi 12, 12, __wrap_##name - 2b; b find_first; \
    .size __wrap_##name, . - __wrap_##name;
#define TULLE_EXPORTED(name)
#define TULLE_SECOND(name)
    .abiversion 2
    .text
#include "compat/pthread/symbols.def"

/* Goes on at r12, with the arguments of its caller. */
    .type find_first, @function
    .p2align 4
find_first:
    mflr 0
    std 0, 16(1)
    stdu 1, -112(1)
    std 12, 32(1)
    std 3, 40(1)
    std 4, 48(1)
    std 5, 56(1)
    std 6, 64(1)
    std 7, 72(1)
    std 8, 80(1)
    std 9, 88(1)
    std 10, 96(1)
    bcl 20, 31, 2f
2:  mflr 12
    addis 2, 12, (.TOC. - 2b)@ha
    addi 2, 2, (.TOC. - 2b)@l
    bl tulle_find_own_calls
    nop
    ld 12, 32(1)
    ld 3, 40(1)
    ld 4, 48(1)
    ld 5, 56(1)
    ld 6, 64(1)
    ld 7, 72(1)
    ld 8, 80(1)
    ld 9, 88(1)
    ld 10, 96(1)
    addi 1, 1, 112
    ld 0, 16(1)
    mtlr 0
    mtctr 12
    bctr
    .size find_first, . - find_first
    .section .note.GNU-stack, "", @progbits
