// SPDX-License-Identifier: Apache-2.0
#include "dsm/state_table.hpp"

#include "os/fixed_range.hpp"
#include "os/memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <tulle/coherent_abi.h>

namespace tulle::dsm {

namespace {

constexpr std::uint64_t k_last = TULLE_COHERENT_FIRST + (TULLE_COHERENT_BYTES - 1);

bool s_is_mapped = false; // by constructors of object files, which run one after the other

} // namespace

// The table is never unmapped: instrumented code may run until the process ends.
bool map_state_table() noexcept {
    if (s_is_mapped) return true;
    std::uint64_t const bytes = TULLE_COHERENT_TABLE_BYTES + os::page_size(); // one more is read
    alignas(os::fixed_range) static std::byte place[sizeof(os::fixed_range)];
    auto* const table =
        new (place) os::fixed_range(os::fixed_range::reserve(TULLE_COHERENT_TABLE, bytes));
    s_is_mapped = table->is_valid() && table->fill(0, bytes);
    return s_is_mapped;
}

bool has_state_table() noexcept { return s_is_mapped; }

state_range states_of(std::uint64_t first, std::uint64_t last) noexcept {
    first = std::max(first, TULLE_COHERENT_FIRST);
    last = std::min(last, k_last);
    if (last < first) return {nullptr, 0};
    std::uint64_t const low = first >> TULLE_COHERENT_LINE_SHIFT;
    std::uint64_t const high = last >> TULLE_COHERENT_LINE_SHIFT;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return {reinterpret_cast<std::uint8_t const*>(low), static_cast<std::size_t>(high - low + 1)};
}

std::optional<std::size_t> find_state(state_range states, std::uint8_t bits) noexcept {
    constexpr std::uint64_t each_byte = 0x0101'0101'0101'0101;
    std::size_t n = 0;
    for (; n + sizeof(std::uint64_t) <= states.count; n += sizeof(std::uint64_t)) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, states.first + n, sizeof eight);
        if ((eight & (each_byte * bits)) != 0) break;
    }
    for (; n < states.count; ++n)
        if ((states.first[n] & bits) != 0) return n;
    return std::nullopt;
}

} // namespace tulle::dsm
