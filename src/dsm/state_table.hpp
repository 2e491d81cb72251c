// SPDX-License-Identifier: Apache-2.0
// State bytes of the lines of coherent memory (tulle/coherent_abi.h): a part of a table at a fixed
// address, which takes memory only where a state was written. The rest of the table, that of other
// memory, can only be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include <tulle/coherent_abi.h>

namespace tulle::dsm {

// A run of state bytes.
struct state_range {
    std::uint8_t const* first;
    std::size_t count;
};

// Maps the table of this process, once; false: errno says why. The part of coherent memory is
// enough where no code was compiled to look at states.
enum class table_extent { of_coherent_memory, of_all_addresses };
[[nodiscard]] bool map_state_table(table_extent extent) noexcept;
// It is mapped: some of the program was compiled to look at it.
[[nodiscard]] bool has_state_table() noexcept;

[[nodiscard]] inline bool is_coherent(std::uint64_t address) noexcept {
    return address >> TULLE_COHERENT_RANGE_SHIFT == TULLE_COHERENT_RANGE;
}

// From the line of an address of coherent memory on.
[[nodiscard]] inline std::uint8_t const* states_at(std::uint64_t address) noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<std::uint8_t const*>(TULLE_COHERENT_STATE_OF(address));
}

[[nodiscard]] inline std::uint8_t state_of(std::uint64_t address) noexcept {
    return *states_at(address);
}

// Lines that the bytes [first, last] touch.
[[nodiscard]] inline std::size_t lines_of(std::uint64_t first, std::uint64_t last) noexcept {
    return static_cast<std::size_t>((last >> TULLE_COHERENT_LINE_SHIFT) -
                                    (first >> TULLE_COHERENT_LINE_SHIFT)) +
           1;
}

// The states of all lines of the bytes [first, last], but for what is no coherent memory.
[[nodiscard]] state_range states_of(std::uint64_t first, std::uint64_t last) noexcept;

// The first of these states that has one of the bits.
[[nodiscard]] std::optional<std::size_t> find_state(state_range states, std::uint8_t bits) noexcept;

// Whether all these states, of which there is one at least, are without the bits. Words overlap
// instead of going on by bytes.
[[nodiscard]] inline bool has_no_state(state_range states, std::uint8_t bits) noexcept {
    constexpr std::uint64_t k_each_byte = 0x0101'0101'0101'0101;
    std::uint64_t const wanted = k_each_byte * bits;
    auto const bits_at = [&states]<class Word>(std::size_t n, Word word) -> std::uint64_t {
        std::memcpy(&word, states.first + n, sizeof word);
        return word;
    };
    std::size_t const n = states.count;
    if (n < 2) return (states.first[0] & bits) == 0;
    if (n < 4)
        return ((bits_at(0, std::uint16_t{}) | bits_at(n - 2, std::uint16_t{})) & wanted) == 0;
    if (n < 8)
        return ((bits_at(0, std::uint32_t{}) | bits_at(n - 4, std::uint32_t{})) & wanted) == 0;
    std::uint64_t found = bits_at(n - 8, std::uint64_t{});
    for (std::size_t k = 0; k + 8 < n && (found & wanted) == 0; k += 8)
        found |= bits_at(k, std::uint64_t{});
    return (found & wanted) == 0;
}

} // namespace tulle::dsm
