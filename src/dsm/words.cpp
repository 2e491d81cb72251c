// SPDX-License-Identifier: Apache-2.0
#include "dsm/words.hpp"

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

// The bytes of `value` for which `differs` is not 0.
void store_some(std::byte* at, word value, word differs) noexcept {
    auto const values = std::bit_cast<bytes_of_word>(value);
    auto const marks = std::bit_cast<bytes_of_word>(differs);
    for (std::size_t k = 0; k < values.size(); ++k)
        if (marks[k] != 0) store(at + k, values[k]);
}

// Whether all bytes differ, as they mostly do in numbers.
bool has_no_zero_byte(word w) noexcept {
    constexpr word low = 0x0101'0101'0101'0101;
    return ((w - low) & ~w & low << 7U) == 0;
}

void store_differing(std::byte* at, word value, word differs) noexcept {
    if (has_no_zero_byte(differs)) return store(at, value);
    store_some(at, value, differs);
}

} // namespace

// Mostly a few.
void fill_bytes(std::uint8_t* to, std::uint8_t value, std::size_t bytes) noexcept {
    constexpr word each_byte = 0x0101'0101'0101'0101;
    word const eight = each_byte * value;
    for (; bytes >= 8; to += 8, bytes -= 8) __builtin_memcpy(to, &eight, 8);
    if ((bytes & 4U) != 0) __builtin_memcpy(to, &eight, 4);
    to += bytes & 4U;
    if ((bytes & 2U) != 0) __builtin_memcpy(to, &eight, 2);
    to += bytes & 2U;
    if ((bytes & 1U) != 0) *to = value;
}

void write_bytes(std::byte* to, std::byte const* from, std::uint8_t which) noexcept {
    constexpr std::uint8_t all = 0xFF;
    word const value = load(from);
    if (which == all) return store(to, value);
    auto const values = std::bit_cast<bytes_of_word>(value);
    for (std::size_t k = 0; k < values.size(); ++k)
        if ((which >> k & 1U) != 0) store(to + k, values[k]);
}

bool copy_differing_too(std::byte* to, std::byte const* from, std::byte* twin,
                        std::size_t bytes) noexcept {
    bool any = false;
    for (std::size_t k = 0; k < bytes; k += sizeof(word)) {
        word const now = load(from + k);
        word const differs = now ^ load(twin + k);
        if (differs == 0) continue;
        store_differing(to + k, now, differs);
        store(twin + k, now);
        any = true;
    }
    return any;
}

} // namespace tulle::dsm
