// SPDX-License-Identifier: Apache-2.0
#include "dsm/state_table.hpp"

#include "os/fixed_range.hpp"
#include "os/memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <tulle/coherent_abi.h>

namespace tulle::dsm {

namespace {

constexpr std::uint64_t k_last = TULLE_COHERENT_FIRST + (TULLE_COHERENT_BYTES - 1);

// By one thread, while object files are relocated or their constructors run.
bool s_is_mapped = false;
int s_error = 0; // of the first attempt, which may have mapped a part

bool map_states_of_coherent_memory() noexcept {
    std::size_t const bytes = TULLE_COHERENT_TABLE_BYTES + os::page_size(); // a page more is read
    os::fixed_range table = os::fixed_range::reserve(TULLE_COHERENT_TABLE, bytes);
    if (!table.is_valid() || !table.fill(0, TULLE_COHERENT_TABLE_BYTES) ||
        !os::allow_stores(table.low() + TULLE_COHERENT_TABLE_BYTES, os::page_size(), false))
        return false;
    os::leave_out_of_dumps(table.low(), table.size(), true);
    table.keep();
    return true;
}

bool map_zeros(std::uint64_t first, std::uint64_t bytes) noexcept {
    os::fixed_range states = os::fixed_range::reserve(first, bytes);
    if (!states.is_valid() || !os::allow_stores(states.low(), states.size(), false)) return false;
    os::leave_out_of_dumps(states.low(), states.size(), true);
    states.keep();
    return true;
}

// Whether a process may have memory at one of the addresses whose states these are: neither the
// kernel nor a linker puts anything between the first 64 GiB and the last part of the address
// space, where it is not asked for.
bool are_needed(std::uint64_t first, std::uint64_t bytes) noexcept {
    constexpr std::uint64_t k_end_of_low = 0x10'0000'0000;
    constexpr std::uint64_t k_high = 0x5000'0000'0000;
    std::uint64_t const low = (first - TULLE_COHERENT_STATES) << TULLE_COHERENT_LINE_SHIFT;
    std::uint64_t const end = low + (bytes << TULLE_COHERENT_LINE_SHIFT);
    return low < k_end_of_low || end > k_high;
}

// Of memory that is not coherent. Something may be there already, as the heap of Valgrind is.
bool map_states_of_others(std::uint64_t first, std::uint64_t bytes) noexcept {
    constexpr std::uint64_t k_least = std::uint64_t{1} << 30;
    if (map_zeros(first, bytes)) return true;
    if (bytes <= k_least) return !are_needed(first, bytes);
    std::uint64_t const half = bytes / 2 / os::page_size() * os::page_size();
    return map_states_of_others(first, half) && map_states_of_others(first + half, bytes - half);
}

bool map_states_of_all_others() noexcept {
    std::uint64_t const above = TULLE_COHERENT_TABLE + TULLE_COHERENT_TABLE_BYTES + os::page_size();
    std::uint64_t const end = TULLE_COHERENT_STATES + TULLE_COHERENT_STATES_BYTES + os::page_size();
    return map_states_of_others(TULLE_COHERENT_STATES,
                                TULLE_COHERENT_TABLE - TULLE_COHERENT_STATES) &&
           map_states_of_others(above, end - above);
}

} // namespace

// The table is never unmapped: instrumented code may run until the process ends.
bool map_state_table(table_extent extent) noexcept {
    if (s_is_mapped) return true;
    if (s_error == 0) {
        bool const is_small = extent == table_extent::of_coherent_memory;
        s_is_mapped = map_states_of_coherent_memory() && (is_small || map_states_of_all_others());
        s_error = s_is_mapped ? 0 : errno;
    }
    if (!s_is_mapped) errno = s_error;
    return s_is_mapped;
}

bool has_state_table() noexcept { return s_is_mapped; }

state_range states_of(std::uint64_t first, std::uint64_t last) noexcept {
    first = std::max(first, TULLE_COHERENT_FIRST);
    last = std::min(last, k_last);
    if (last < first) return {nullptr, 0};
    return {states_at(first), lines_of(first, last)};
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
