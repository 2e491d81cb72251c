// SPDX-License-Identifier: Apache-2.0
// One access to bytes of an aligned word of eight, as a word. From the lowest bit on: the process
// and one (8 bits; 0: there is no access), the first and the last byte (3 each), whether it stores,
// whether it is atomic, its place in the program (20), and its epoch (28).
#pragma once

#include <cstdint>

namespace tulle::races {

using process_number = std::uint32_t; // of a place
inline constexpr process_number k_most_processes = 255;

// Time of a process: how often it has let others go on. 0: before everything.
using epoch = std::uint32_t;
inline constexpr epoch k_last_epoch = (epoch{1} << 28U) - 1;

// A place in the program, as sites.hpp numbers them. 0: it is not known.
using site = std::uint32_t;
inline constexpr unsigned k_site_bits = 20;

inline constexpr std::uint64_t k_granule = 8; // bytes that share cells

struct access {
    process_number process;
    epoch when;
    std::uint32_t first, last; // of the eight bytes
    bool stores;
    bool is_atomic;
    site where;
};

class cell {
public:
    constexpr cell() noexcept = default;
    explicit constexpr cell(std::uint64_t bits) noexcept : m_bits(bits) {}
    explicit constexpr cell(access const& a) noexcept
        : m_bits((a.process + 1) | std::uint64_t{a.first} << 8U | std::uint64_t{a.last} << 11U |
                 std::uint64_t{a.stores} << 14U | std::uint64_t{a.is_atomic} << 15U |
                 std::uint64_t{a.where} << 16U | std::uint64_t{a.when} << 36U) {}

    [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return m_bits; }
    [[nodiscard]] constexpr bool is_empty() const noexcept { return m_bits == 0; }
    [[nodiscard]] constexpr process_number process() const noexcept { return part(0, 8) - 1; }
    [[nodiscard]] constexpr std::uint32_t first() const noexcept { return part(8, 3); }
    [[nodiscard]] constexpr std::uint32_t last() const noexcept { return part(11, 3); }
    [[nodiscard]] constexpr bool stores() const noexcept { return part(14, 1) != 0; }
    [[nodiscard]] constexpr bool is_atomic() const noexcept { return part(15, 1) != 0; }
    [[nodiscard]] constexpr site where() const noexcept { return part(16, k_site_bits); }
    [[nodiscard]] constexpr epoch when() const noexcept { return part(36, 28); }

    // Whether whatever is in conflict with the other access is so with this one, by bytes and kind.
    [[nodiscard]] constexpr bool covers(cell other) const noexcept {
        return first() <= other.first() && other.last() <= last() &&
               (stores() || !other.stores()) && (!is_atomic() || other.is_atomic());
    }
    // Whether the two must be ordered.
    [[nodiscard]] constexpr bool conflicts_with(cell other) const noexcept {
        return process() != other.process() && first() <= other.last() && other.first() <= last() &&
               (stores() || other.stores()) && !(is_atomic() && other.is_atomic());
    }

private:
    [[nodiscard]] constexpr std::uint32_t part(unsigned from, unsigned bits) const noexcept {
        return static_cast<std::uint32_t>(m_bits >> from & ((std::uint64_t{1} << bits) - 1));
    }

    std::uint64_t m_bits = 0;
};

} // namespace tulle::races
