/* SPDX-License-Identifier: Apache-2.0 */
/* What programs for Qthreads ask about the compiler and the machine. The library itself asks
 * src/arch and src/os. */
#ifndef QTHREAD_COMMON_H
#define QTHREAD_COMMON_H

/* The order in which a compiler fills a word with bit fields. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BITFIELD_ORDER_FORWARD
#else
#define BITFIELD_ORDER_REVERSE
#endif

#if defined(__cplusplus) && !defined(restrict)
#define restrict __restrict
#endif

#define QTHREAD_TRAP() __builtin_trap()

#define QTHREAD_UNSUPPORTED 0
#define QTHREAD_IA32 1
#define QTHREAD_AMD64 2
#define QTHREAD_POWERPC32 6
#define QTHREAD_POWERPC64 7
#define QTHREAD_ARM 12
#define QTHREAD_ARMV8_A64 13
#define QTHREAD_RISCV 14

#if defined(__x86_64__)
#define QTHREAD_ASSEMBLY_ARCH QTHREAD_AMD64
#elif defined(__aarch64__)
#define QTHREAD_ASSEMBLY_ARCH QTHREAD_ARMV8_A64
#elif defined(__powerpc64__)
#define QTHREAD_ASSEMBLY_ARCH QTHREAD_POWERPC64
#elif defined(__powerpc__)
#define QTHREAD_ASSEMBLY_ARCH QTHREAD_POWERPC32
#elif defined(__i386__)
#define QTHREAD_ASSEMBLY_ARCH QTHREAD_IA32
#elif defined(__arm__)
#define QTHREAD_ASSEMBLY_ARCH QTHREAD_ARM
#elif defined(__riscv)
#define QTHREAD_ASSEMBLY_ARCH QTHREAD_RISCV
#else
#define QTHREAD_ASSEMBLY_ARCH QTHREAD_UNSUPPORTED
#endif

#endif
