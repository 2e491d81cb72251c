// SPDX-License-Identifier: Apache-2.0
// State bytes of the lines of coherent memory (tulle/coherent_abi.h): a table at a fixed address,
// which takes memory only where a state was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <tulle/coherent_abi.h>

namespace tulle::dsm {

// A run of state bytes.
struct state_range {
    std::uint8_t const* first;
    std::size_t count;
};

// Maps the table of this process, once; false: errno says why.
[[nodiscard]] bool map_state_table() noexcept;

[[nodiscard]] inline bool is_coherent(std::uint64_t address) noexcept {
    return address >> TULLE_COHERENT_RANGE_SHIFT == TULLE_COHERENT_RANGE;
}

// Of the line of an address of coherent memory.
[[nodiscard]] inline std::uint8_t state_of(std::uint64_t address) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return *reinterpret_cast<std::uint8_t const*>(address >> TULLE_COHERENT_LINE_SHIFT);
}

// The states of all lines of the bytes [first, last], but for what is no coherent memory.
[[nodiscard]] state_range states_of(std::uint64_t first, std::uint64_t last) noexcept;

// The first of these states that has one of the bits.
[[nodiscard]] std::optional<std::size_t> find_state(state_range states, std::uint8_t bits) noexcept;

} // namespace tulle::dsm
