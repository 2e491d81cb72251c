// SPDX-License-Identifier: Apache-2.0
// The one file that knows the architectures by the compiler's macros. TULLE_ARCH_FILE(name) is the
// file `name` in the folder of the architecture that is compiled for, to be used as `#include
// TULLE_ARCH_FILE(asm_backend.hpp)` where __has_include says that it is there.
// On an architecture that has no folder it names no file.
#pragma once

#define TULLE_ARCH_QUOTE(path) #path

// clang-format off
#if defined(__x86_64__)
#define TULLE_ARCH_FILE(name) TULLE_ARCH_QUOTE(arch/x86_64/name)
#elif defined(__i386__)
#define TULLE_ARCH_FILE(name) TULLE_ARCH_QUOTE(arch/i386/name)
#elif defined(__aarch64__)
#define TULLE_ARCH_FILE(name) TULLE_ARCH_QUOTE(arch/aarch64/name)
#elif defined(__arm__)
#define TULLE_ARCH_FILE(name) TULLE_ARCH_QUOTE(arch/arm/name)
#elif defined(__riscv) && __riscv_xlen == 64
#define TULLE_ARCH_FILE(name) TULLE_ARCH_QUOTE(arch/riscv64/name)
#elif defined(__powerpc64__)
#define TULLE_ARCH_FILE(name) TULLE_ARCH_QUOTE(arch/ppc64/name)
#elif defined(__sparc__) && defined(__arch64__)
#define TULLE_ARCH_FILE(name) TULLE_ARCH_QUOTE(arch/sparc64/name)
#elif defined(__sparc__)
#define TULLE_ARCH_FILE(name) TULLE_ARCH_QUOTE(arch/sparc/name)
#elif defined(__s390x__)
#define TULLE_ARCH_FILE(name) TULLE_ARCH_QUOTE(arch/s390x/name)
#else
#define TULLE_ARCH_FILE(name) TULLE_ARCH_QUOTE(arch/unknown/name)
#endif
// clang-format on
