// SPDX-License-Identifier: Apache-2.0
// Blocks of a line of 64 bytes, at multiples of it, by the widest loads and stores that all
// processors of an architecture have. Callers may hold values in vector registers, which are kept.
#pragma once

#include "arch/architecture.hpp"

#include <cstdint>

#if __has_include(TULLE_ARCH_FILE(line_blocks.hpp))
#include TULLE_ARCH_FILE(line_blocks.hpp)
#else
inline void tulle_copy_line(void* to, void const* from) {
    for (int k = 0; k < 8; ++k)
        __atomic_store_n(
            static_cast<std::uint64_t*>(to) + k,
            __atomic_load_n(static_cast<std::uint64_t const*>(from) + k, __ATOMIC_RELAXED),
            __ATOMIC_RELAXED);
}
inline void tulle_fill_line(void* to, std::uint64_t word) {
    for (int k = 0; k < 8; ++k)
        __atomic_store_n(static_cast<std::uint64_t*>(to) + k, word, __ATOMIC_RELAXED);
}
#endif
