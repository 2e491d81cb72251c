/* SPDX-License-Identifier: Apache-2.0 */
/* The linker's --wrap sends what the run time itself calls here, and so past the functions of this library. */
#define TULLE_INTERPOSED(name) \
    .globl __wrap_##name; .hidden __wrap_##name; .type __wrap_##name, %function; \
    .p2align 4; __wrap_##name: auipc t1, %pcrel_hi(tulle_libc_##name); ld t1, %pcrel_lo(__wrap_##name)(t1); jr t1; \
    .size __wrap_##name, . - __wrap_##name;
#define TULLE_EXPORTED(name)
#define TULLE_SECOND(name)
    .text
#include "compat/pthread/symbols.def"
    .section .note.GNU-stack, "", %progbits
