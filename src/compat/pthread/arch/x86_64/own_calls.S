/* SPDX-License-Identifier: Apache-2.0 */
/* The linker's --wrap sends what the run time itself calls here, and so past the functions of this library. Constructors of other libraries may call
   these before anything has been found. */
#define TULLE_INTERPOSED(name) \
    .globl __wrap_##name; .hidden __wrap_##name; .type __wrap_##name, @function; \
    .p2align 4; __wrap_##name: mov tulle_libc_##name(%rip), %r11; test %r11, %r11; jz 1f; jmp *%r11; \
    1: lea __wrap_##name(%rip), %r11; jmp find_first; .size __wrap_##name, . - __wrap_##name;
#define TULLE_EXPORTED(name)
#define TULLE_SECOND(name)
    .text
#include "compat/pthread/symbols.def"

/* Goes on at r11, with the arguments of its caller. */
    .type find_first, @function
    .p2align 4
find_first:
    push %rdi
    push %rsi
    push %rdx
    push %rcx
    push %r8
    push %r9
    push %rax
    push %r11
    sub $8, %rsp
    call tulle_find_own_calls
    add $8, %rsp
    pop %r11
    pop %rax
    pop %r9
    pop %r8
    pop %rcx
    pop %rdx
    pop %rsi
    pop %rdi
    jmp *%r11
    .size find_first, . - find_first
    .section .note.GNU-stack, "", @progbits
