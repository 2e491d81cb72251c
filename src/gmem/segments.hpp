// SPDX-License-Identifier: Apache-2.0
// The distribution table of global memory: which place an address belongs to. All places have the
// same one. Each contributes a segment of the same size; the segments lie side by side in the order
// of the places, so that one allocation may span several.
#pragma once

#include "net/packet.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tulle::gmem {

using net::rank;

class segments {
public:
    segments() noexcept = default;
    segments(std::uint64_t low, std::uint64_t bytes_of_each, rank places) noexcept
        : m_low(low), m_each(bytes_of_each), m_places(places) {}

    [[nodiscard]] std::uint64_t low() const noexcept { return m_low; }
    [[nodiscard]] std::uint64_t size() const noexcept { return m_each * m_places; }
    [[nodiscard]] std::uint64_t bytes_of_each() const noexcept { return m_each; }
    [[nodiscard]] rank places() const noexcept { return m_places; }

    [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t bytes) const noexcept {
        return address >= m_low && address - m_low <= size() && bytes <= size() - (address - m_low);
    }
    // The place whose segment has this address, which lies in one of them.
    [[nodiscard]] rank place_of(std::uint64_t address) const noexcept {
        return static_cast<rank>((address - m_low) / m_each);
    }
    [[nodiscard]] std::uint64_t begin_of(rank place) const noexcept {
        return m_low + place * m_each;
    }

    // Calls part(place, address, bytes) for what lies at one place, in turn.
    template <class F>
    void for_each_part(std::uint64_t address, std::uint64_t bytes, F part) const {
        while (bytes != 0) {
            rank const at = place_of(address);
            std::uint64_t const here = std::min(bytes, begin_of(at + 1) - address);
            part(at, address, here);
            address += here;
            bytes -= here;
        }
    }

private:
    std::uint64_t m_low = 0;
    std::uint64_t m_each = 1;
    rank m_places = 0;
};

} // namespace tulle::gmem
