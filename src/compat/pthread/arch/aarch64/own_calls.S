/* SPDX-License-Identifier: Apache-2.0 */
/* The linker's --wrap sends what the run time itself calls here, and so past the functions of this library. Constructors of other libraries may call
   these before anything has been found. `hint #34` is a landing pad (BTI). */
#define TULLE_INTERPOSED(name) \
    .globl __wrap_##name; .hidden __wrap_##name; .type __wrap_##name, %function; \
    .p2align 4; __wrap_##name: hint 34; adrp x16, tulle_libc_##name; ldr x16, [x16, :lo12:tulle_libc_##name]; cbz x16, 1f; br x16; \
    1: adrp x17, __wrap_##name; add x17, x17, :lo12:__wrap_##name; b find_first; \
    .size __wrap_##name, . - __wrap_##name;
#define TULLE_EXPORTED(name)
#define TULLE_SECOND(name)
    .text
#include "compat/pthread/symbols.def"

/* Goes on at x17, with the arguments of its caller. */
    .type find_first, %function
    .p2align 4
find_first:
    stp x29, x30, [sp, #-96]!
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    stp x8, x17, [sp, #80]
    bl tulle_find_own_calls
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldp x8, x17, [sp, #80]
    ldp x29, x30, [sp], #96
    br x17
    .size find_first, . - find_first
    .section .note.GNU-stack, "", %progbits
