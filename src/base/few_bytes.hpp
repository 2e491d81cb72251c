// SPDX-License-Identifier: Apache-2.0
// A copy that mostly is one of a few bytes, such as the arguments of a call. From four to sixteen
// are two moves, which overlap, and no call of a function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tulle::base {

// The first and the last sizeof(Word) bytes, of at most twice as many.
template <class Word> void copy_ends(std::byte* to, std::byte const* from, std::size_t size) {
    Word first, last;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&last, from + size - sizeof last, sizeof last);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(to + size - sizeof last, &last, sizeof last);
}

// They do not overlap. Of no bytes both pointers may be null.
inline void copy_few_bytes(std::byte* to, std::byte const* from, std::size_t size) noexcept {
    if (size - 4 <= 4) return copy_ends<std::uint32_t>(to, from, size);
    if (size - 8 <= 8) return copy_ends<std::uint64_t>(to, from, size);
    if (size != 0) std::memcpy(to, from, size);
}

} // namespace tulle::base
