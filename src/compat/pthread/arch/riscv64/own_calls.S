/* SPDX-License-Identifier: Apache-2.0 */
/* The linker's --wrap sends what the run time itself calls here, and so past the functions of this library. Constructors of other libraries may call
   these before anything has been found. */
#define TULLE_INTERPOSED(name) \
    .globl __wrap_##name; .hidden __wrap_##name; .type __wrap_##name, %function; \
    .p2align 4; __wrap_##name: auipc t1, %pcrel_hi(tulle_libc_##name); ld t1, %pcrel_lo(__wrap_##name)(t1); beqz t1, 1f; jr t1; \
    1: lla t1, __wrap_##name; j find_first; \
    .size __wrap_##name, . - __wrap_##name;
#define TULLE_EXPORTED(name)
#define TULLE_SECOND(name)
    .text
#include "compat/pthread/symbols.def"

/* Goes on at t1, with the arguments of its caller. */
    .type find_first, %function
    .p2align 4
find_first:
    addi sp, sp, -80
    sd ra, 0(sp)
    sd t1, 8(sp)
    sd a0, 16(sp)
    sd a1, 24(sp)
    sd a2, 32(sp)
    sd a3, 40(sp)
    sd a4, 48(sp)
    sd a5, 56(sp)
    sd a6, 64(sp)
    sd a7, 72(sp)
    call tulle_find_own_calls
    ld ra, 0(sp)
    ld t1, 8(sp)
    ld a0, 16(sp)
    ld a1, 24(sp)
    ld a2, 32(sp)
    ld a3, 40(sp)
    ld a4, 48(sp)
    ld a5, 56(sp)
    ld a6, 64(sp)
    ld a7, 72(sp)
    addi sp, sp, 80
    jr t1
    .size find_first, . - find_first
    .section .note.GNU-stack, "", %progbits
