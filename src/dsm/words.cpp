// SPDX-License-Identifier: Apache-2.0
#include "dsm/words.hpp"

#include "arch/fiber_annotations.hpp"

#include <array>
#include <atomic>
#include <bit>

namespace tulle::dsm {

namespace {

using word = std::uint64_t;

// relaxed: programs order the accesses that matter by synchronising, and of a word that others
// write meanwhile each byte is used by those who may
word load(std::byte const* at) noexcept {
    auto& place = *reinterpret_cast<word*>(const_cast<std::byte*>(at));
    return std::atomic_ref<word>(place).load(std::memory_order_relaxed);
}
template <class T> void store(std::byte* at, T value) noexcept {
    std::atomic_ref<T>(*reinterpret_cast<T*>(at)).store(value, std::memory_order_relaxed);
}

using bytes_of_word = std::array<std::uint8_t, sizeof(word)>;

// Each byte of a T, and `to` behind it. release: what was done before is found by who finds them.
template <class T> void fill(std::byte*& to, std::uint8_t value) noexcept {
    constexpr T each_byte = static_cast<T>(~T{0}) / 0xFF;
    std::atomic_ref<T>(*reinterpret_cast<T*>(to))
        .store(static_cast<T>(each_byte * value), std::memory_order_release);
    to += sizeof(T);
}
template <class T>
void fill_to_twice(std::byte*& to, std::byte const* end, std::uint8_t value) noexcept {
    bool const is_odd = reinterpret_cast<std::uintptr_t>(to) % (2 * sizeof(T)) != 0;
    if (is_odd && static_cast<std::size_t>(end - to) >= sizeof(T)) fill<T>(to, value);
}

// The thread sanitizer knows what accesses of one address order, not of a part of a word.
#if defined(TULLE_ANNOTATE_THREAD)
constexpr bool k_by_bytes = true;
#else
constexpr bool k_by_bytes = false;
#endif

} // namespace

// Mostly a few. Each step is aligned to its size: bytes before the first whole word, whole words,
// and what is left.
void fill_bytes(std::uint8_t* first, std::uint8_t value, std::size_t bytes) noexcept {
    auto* to = reinterpret_cast<std::byte*>(first);
    std::byte const* const end = to + bytes;
    while (k_by_bytes && to != end) fill<std::uint8_t>(to, value);
    fill_to_twice<std::uint8_t>(to, end, value);
    fill_to_twice<std::uint16_t>(to, end, value);
    fill_to_twice<std::uint32_t>(to, end, value);
    while (end - to >= 8) fill<word>(to, value);
    auto const left = static_cast<std::size_t>(end - to);
    if ((left & 4U) != 0) fill<std::uint32_t>(to, value);
    if ((left & 2U) != 0) fill<std::uint16_t>(to, value);
    if ((left & 1U) != 0) fill<std::uint8_t>(to, value);
}

void write_bytes(std::byte* to, std::byte const* from, std::uint8_t which) noexcept {
    constexpr std::uint8_t all = 0xFF;
    word const value = load(from);
    if (which == all) return store(to, value);
    auto const values = std::bit_cast<bytes_of_word>(value);
    for (std::size_t k = 0; k < values.size(); ++k)
        if ((which >> k & 1U) != 0) store(to + k, values[k]);
}

} // namespace tulle::dsm
