// SPDX-License-Identifier: Apache-2.0
// What the dynamic linker writes into a program, as far as it must be told apart from what the
// program writes: numbers of relocation types, and the shape of the table of procedure linkage,
// which is written without a relocation for each word. Sources: the ABI supplements of the
// architectures.
#pragma once

#include <cstddef>

#include <elf.h>

namespace tulle::os {

struct relocation_kinds {
    unsigned relative;    // an address in the program itself
    unsigned copy;        // an object that a library owns and the program holds
    std::size_t slot;     // bytes that are written for a jump slot
    std::size_t reserved; // bytes at the beginning of the table (DT_PLTGOT) that are the linker's
};

#if defined(__x86_64__)
inline constexpr relocation_kinds k_relocations{R_X86_64_RELATIVE, R_X86_64_COPY, 8, 24};
#elif defined(__aarch64__)
inline constexpr relocation_kinds k_relocations{R_AARCH64_RELATIVE, R_AARCH64_COPY, 8, 24};
#elif defined(__riscv)
inline constexpr relocation_kinds k_relocations{R_RISCV_RELATIVE, R_RISCV_COPY, 8, 16};
#elif defined(__powerpc64__) && _CALL_ELF == 2
inline constexpr relocation_kinds k_relocations{R_PPC64_RELATIVE, R_PPC64_COPY, 8, 16};
#elif defined(__powerpc64__) // descriptors of functions
inline constexpr relocation_kinds k_relocations{R_PPC64_RELATIVE, R_PPC64_COPY, 24, 24};
#elif defined(__s390x__)
inline constexpr relocation_kinds k_relocations{R_390_RELATIVE, R_390_COPY, 8, 24};
#elif defined(__sparc__) // code
inline constexpr relocation_kinds k_relocations{R_SPARC_RELATIVE, R_SPARC_COPY, 32, 128};
#else
#error "the relocation types of this architecture are not known"
#endif

} // namespace tulle::os
