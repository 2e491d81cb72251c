// SPDX-License-Identifier: Apache-2.0
// What line_blocks.hpp has, by words, for architectures that have no blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tulle::arch::words {

using word = std::uint64_t;
inline constexpr std::size_t k_of_line = 8;

// relaxed, all of them: whoever may write a line at the same time writes other bytes of it
inline word load(void const* base, std::size_t k) noexcept {
    return __atomic_load_n(static_cast<word const*>(base) + k, __ATOMIC_RELAXED);
}
inline void store(void* base, std::size_t k, word value) noexcept {
    __atomic_store_n(static_cast<word*>(base) + k, value, __ATOMIC_RELAXED);
}
// The bytes of the value that are not those of the other.
inline void store_differing(void* base, std::size_t k, word value, word other) noexcept {
    unsigned char now[sizeof(word)];
    unsigned char before[sizeof(word)];
    std::memcpy(now, &value, sizeof now);
    std::memcpy(before, &other, sizeof before);
    unsigned char* const to = static_cast<unsigned char*>(base) + k * sizeof(word);
    for (std::size_t byte = 0; byte < sizeof now; ++byte)
        if (now[byte] != before[byte]) __atomic_store_n(to + byte, now[byte], __ATOMIC_RELAXED);
}

inline void copy_lines(void* to, void const* from, std::size_t lines) noexcept {
    for (std::size_t k = 0; k < lines * k_of_line; ++k) store(to, k, load(from, k));
}
// Calls f(k, now, before) for words of `from` that are not those of the twin; a bit for each line
// that has one.
template <class F>
inline std::uint64_t each_differing(void const* from, void const* twin, std::size_t lines,
                                    F f) noexcept {
    std::uint64_t found = 0;
    for (std::size_t k = 0; k < lines * k_of_line; ++k) {
        word const now = load(from, k);
        word const before = load(twin, k);
        if (now == before) continue;
        found |= std::uint64_t{1} << k / k_of_line;
        f(k, now, before);
    }
    return found;
}
inline std::uint64_t copy_differing_lines(void* to, void const* from, void const* twin,
                                          std::size_t lines) noexcept {
    return each_differing(from, twin, lines, [to](std::size_t k, word now, word before) noexcept {
        store_differing(to, k, now, before);
    });
}
inline std::uint64_t copy_differing_lines_too(void* to, void const* from, void* twin,
                                              std::size_t lines) noexcept {
    return each_differing(from, twin, lines, [=](std::size_t k, word now, word before) noexcept {
        store_differing(to, k, now, before);
        store(twin, k, now);
    });
}
inline void fill_line(void* to, word value) noexcept {
    for (std::size_t k = 0; k < k_of_line; ++k) store(to, k, value);
}

} // namespace tulle::arch::words
