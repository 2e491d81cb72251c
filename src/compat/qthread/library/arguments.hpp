// SPDX-License-Identifier: Apache-2.0
// What a program in C may hand over by mistake: addresses that nothing can have, and lengths that
// no memory has. Each question is one comparison, so that the shortest functions may ask it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tulle::compat {

// Addresses of user space end below, in any paging mode of today; full/empty words keep marks
// above.
inline constexpr unsigned k_address_bits = 56;

// An address of an object of type T, or of an opaque one that is aligned like a word: not null, not
// unaligned, not beyond user space. The rotation moves the bits that must be zero to the top, and
// the subtraction null as well.
template <class T = std::uint64_t> [[nodiscard]] inline bool is_object(void const* p) noexcept {
    constexpr int k_low_bits = std::countr_zero(alignof(T));
    constexpr std::uintptr_t k_end = std::uintptr_t{1} << (k_address_bits - k_low_bits);
    return std::rotr(reinterpret_cast<std::uintptr_t>(p), k_low_bits) - 1 < k_end - 1;
}
template <class T = std::uint64_t>
[[nodiscard]] inline bool is_object_or_null(void const* p) noexcept {
    return p == nullptr || is_object<T>(p);
}

// `count` objects in a row lie in user space; without objects any address will do.
template <class T> [[nodiscard]] inline bool is_array(T const* first, std::size_t count) noexcept {
    std::uintptr_t const room =
        (std::uintptr_t{1} << k_address_bits) - reinterpret_cast<std::uintptr_t>(first);
    return count == 0 || (is_object<T>(first) && count <= room / sizeof(T));
}
// The same for bytes of anything.
[[nodiscard]] inline bool is_bytes(void const* first, std::size_t size) noexcept {
    return is_array(static_cast<std::byte const*>(first), size);
}

} // namespace tulle::compat
