// SPDX-License-Identifier: Apache-2.0
// Stacks come in classes: powers of two from 16 KiB to 1 GiB, below each of which one page is kept
// as a guard, and the compact class of exactly 1 KiB, without guards, in huge pages, for threads
// known to be shallow.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tulle::stack {

inline constexpr std::size_t k_compact_bytes = 1024;
inline constexpr std::size_t k_smallest_bytes = std::size_t{16} << 10U;
inline constexpr std::size_t k_largest_bytes = std::size_t{1} << 30U;

struct size_class {
    std::uint8_t index = 0; // 0: compact; 1: 16 KiB; each further one twice as large

    [[nodiscard]] constexpr bool is_compact() const noexcept { return index == 0; }

    // Of a stack, without its guard.
    [[nodiscard]] constexpr std::size_t bytes() const noexcept {
        return is_compact() ? k_compact_bytes : k_smallest_bytes << (index - 1U);
    }

    [[nodiscard]] friend constexpr bool operator==(size_class, size_class) noexcept = default;
};

inline constexpr std::size_t k_class_count =
    1 +
    static_cast<std::size_t>(std::countr_zero(k_largest_bytes) -
                             std::countr_zero(k_smallest_bytes)) +
    1;

// The class for a stack size in bytes: exactly 1024 is compact, anything else rounds up to a power
// of two of at least 16 KiB; beyond 1 GiB is 1 GiB (the option table refuses more).
[[nodiscard]] constexpr size_class class_for(std::size_t bytes) noexcept {
    if (bytes == k_compact_bytes) {
        return {0};
    }
    if (bytes <= k_smallest_bytes) {
        return {1};
    }
    std::size_t const rounded = bytes >= k_largest_bytes ? k_largest_bytes : std::bit_ceil(bytes);
    return {static_cast<std::uint8_t>(1 + std::countr_zero(rounded) -
                                      std::countr_zero(k_smallest_bytes))};
}

} // namespace tulle::stack
