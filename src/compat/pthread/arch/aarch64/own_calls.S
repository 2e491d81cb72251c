/* SPDX-License-Identifier: Apache-2.0 */
/* The linker's --wrap sends what the run time itself calls here, and so past the functions of this library. `hint #34` is a landing pad (BTI). */
#define TULLE_INTERPOSED(name) \
    .globl __wrap_##name; .hidden __wrap_##name; .type __wrap_##name, %function; \
    .p2align 4; __wrap_##name: hint 34; adrp x16, tulle_libc_##name; ldr x16, [x16, :lo12:tulle_libc_##name]; br x16; \
    .size __wrap_##name, . - __wrap_##name;
#define TULLE_EXPORTED(name)
#define TULLE_SECOND(name)
    .text
#include "compat/pthread/symbols.def"
    .section .note.GNU-stack, "", %progbits
