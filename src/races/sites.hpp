// SPDX-License-Identifier: Apache-2.0
// Numbers for places in the program, the same for all processes, which have it at the same
// addresses; and pairs of them that have been told. In shared memory that is zero at first.
#pragma once

#include "races/cell.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::races {

[[nodiscard]] constexpr std::uint64_t scatter(std::uint64_t key) noexcept {
    constexpr std::uint64_t k_odd = 0x9E37'79B9'7F4A'7C15; // 2^64 over the golden ratio
    return key * k_odd;
}

// A set of numbers but 0, of 2^Bits entries. relaxed: an entry is all that there is to read.
template <unsigned Bits> class number_set {
public:
    static constexpr std::size_t k_none = 0; // no index

    // The index of a number, from 1 on. k_none: no room near it. `is_new`: it was not there.
    std::size_t insert(std::uint64_t number, bool& is_new) noexcept {
        constexpr std::size_t k_mask = (std::size_t{1} << Bits) - 1;
        constexpr std::size_t k_tries = 64;
        is_new = false;
        std::size_t const from = scatter(number) >> (64 - Bits);
        for (std::size_t k = 0; k < k_tries; ++k) {
            std::size_t const at = (from + k) & k_mask;
            if (at == k_none) continue;
            std::uint64_t there = m_all[at].load(std::memory_order_relaxed);
            if (there == 0 &&
                m_all[at].compare_exchange_strong(there, number, std::memory_order_relaxed)) {
                is_new = true;
                return at;
            }
            if (there == number) return at;
        }
        return k_none;
    }
    [[nodiscard]] std::uint64_t at(std::size_t index) const noexcept {
        return m_all[index].load(std::memory_order_relaxed);
    }

private:
    std::array<std::atomic<std::uint64_t>, std::size_t{1} << Bits> m_all;
};

using site_table = number_set<k_site_bits>;

// Pairs of places, in no order.
class site_pairs {
public:
    // False: it has been, or too many have.
    [[nodiscard]] bool insert(site a, site b) noexcept {
        std::uint64_t const key = std::uint64_t{std::min(a, b)} << 32U | std::max(a, b);
        bool is_new = false;
        m_pairs.insert(key + 1, is_new);
        return is_new;
    }

private:
    number_set<14> m_pairs;
};

} // namespace tulle::races
