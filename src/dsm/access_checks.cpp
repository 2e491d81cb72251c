// SPDX-License-Identifier: Apache-2.0
// What checks of instrumented code call (tulle/coherent_abi.h). Where places have copies of their
// own, the protocol makes lines usable. While all that share memory are processes of one host, the
// hardware keeps it coherent: each line may be touched by all, each state is 0, and slow paths are
// called only to look at the states of more than two lines.
#include "dsm/coherent_atomics.hpp"
#include "dsm/coherent_host.hpp"
#include "dsm/compiled_scheme.hpp"
#include "dsm/directory_host.hpp"
#include "dsm/state_table.hpp"

#include "base/assert.hpp"
#include "base/sanitize.hpp"

#include <bit>
#include <cerrno>
#include <cstring>

#include <tulle/coherent_abi.h>
#include <tulle/detail/attributes.hpp>

namespace tulle::dsm {

namespace {

constexpr std::uint8_t k_forbids_loads = TULLE_COHERENT_NO_LOAD;
constexpr std::uint8_t k_forbids_stores = TULLE_COHERENT_NO_LOAD | TULLE_COHERENT_NO_STORE;

// Memory that all places have in common is allowed for everything; who else sets a state has
// damaged the table.
TULLE_COLD void expect_usable(std::uint64_t first, std::uint64_t last,
                              std::uint8_t forbidding) noexcept {
    state_range const states = states_of(first, last);
    auto const bad = find_state(states, forbidding);
    TULLE_CHECK(!bad,
                "coherent memory: the state of line %zu from %#llx on is %#x, which nothing "
                "sets there; the table of states has been written to",
                *bad, static_cast<unsigned long long>(first), states.first[*bad]);
}

[[gnu::noinline]] void ask_for(std::uint64_t first, std::uint64_t last,
                               std::uint8_t forbidding) noexcept {
    if (!is_host()) return expect_usable(first, last, forbidding);
    make_usable(first, last,
                forbidding == k_forbids_loads ? access_kind::load : access_kind::store);
}

// All of it is coherent memory, as it nearly always is, and in a state that allows the access.
[[nodiscard]] inline bool is_usable(std::uint64_t first, std::uint64_t last,
                                    std::uint8_t forbidding) noexcept {
    return is_coherent(first) && is_coherent(last) &&
           has_no_state({states_at(first), lines_of(first, last)}, forbidding);
}

inline void check(std::uint64_t first, std::uint64_t last, std::uint8_t forbidding) noexcept {
    if (last < first || is_usable(first, last, forbidding)) return;
    ask_for(first, last, forbidding);
}

// Between rows that are so close to each other there is no line that none of them touches.
bool are_close(std::uint64_t bytes, std::uint64_t stride) noexcept {
    return stride <= bytes || stride - bytes < TULLE_COHERENT_LINE;
}

// Rows that lie in one line each, at the same place in it, as columns of a matrix do.
bool are_usable_lines(std::uint64_t first, std::uint64_t step, std::uint64_t more,
                      std::uint8_t forbidding) noexcept {
    std::uint8_t const* at = states_at(first);
    std::uint64_t const lines = step / TULLE_COHERENT_LINE;
    std::uint8_t found = *at;
    for (std::uint64_t row = 0; row != more; ++row) {
        at += lines;
        found |= *at;
    }
    return (found & forbidding) == 0;
}

// Rows that lie in up to 8 lines each, by a word of states for each row, from which those of the
// lines behind it are shifted out. They are looked at together.
bool are_usable_rows(std::uint64_t first, std::uint64_t last, std::uint64_t step,
                     std::uint64_t more, std::uint8_t forbidding) noexcept {
    constexpr std::uint64_t k_each_byte = 0x0101'0101'0101'0101;
    constexpr std::size_t k_states = sizeof(std::uint64_t);
    if (last - first > (k_states - 1) * TULLE_COHERENT_LINE || !is_coherent(first) ||
        !is_coherent(last + step * more))
        return false;
    if (step % TULLE_COHERENT_LINE == 0 && lines_of(first, last) == 1)
        return are_usable_lines(first, step, more, forbidding);
    std::uint64_t found = 0;
    for (std::uint64_t row = 0; row <= more; ++row, first += step, last += step) {
        std::uint64_t states = 0;
        std::memcpy(&states, states_at(first), sizeof states);
        std::size_t const others = 8 * (k_states - lines_of(first, last));
        found |= std::endian::native == std::endian::little ? states << others : states >> others;
    }
    return (found & k_each_byte * forbidding) == 0;
}

// Rows are often short, and there may be very many of them. Addresses are computed modulo 2^64.
void check_rows(std::uint64_t first, std::uint64_t last, std::int64_t stride, std::uint64_t more,
                std::uint8_t forbidding) noexcept {
    if (last < first) return;
    std::uint64_t const step =
        stride < 0 ? 0 - static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
    if (stride < 0) { // from the lowest row on
        first -= step * more;
        last -= step * more;
    }
    std::uint64_t way = 0;
    bool const are_many = __builtin_mul_overflow(step, more, &way) || last + way < last;
    if (!are_many && are_close(last - first + 1, step)) return check(first, last + way, forbidding);
    if (!are_many && are_usable_rows(first, last, step, more, forbidding)) return;
    for (std::uint64_t row = 0; row <= more; ++row, first += step, last += step)
        check(first, last, forbidding);
}

scheme scheme_of(std::uint32_t number) noexcept {
    if (number == TULLE_COHERENT_BY_DIRECTORY) return scheme::directory;
    return number == TULLE_COHERENT_BY_REFRESH ? scheme::refresh : scheme::states;
}

// Of memory that all places have in common: nobody is asked.
directory_host::held_entry nobody() noexcept {
    static std::atomic<directory_entry> s_nobody{0};
    return {&s_nobody, 0};
}

void give(tulle_directory_held* held, directory_host::held_entry const& made) noexcept {
    *held = {reinterpret_cast<std::uint64_t*>(made.entry), made.value};
}

} // namespace

} // namespace tulle::dsm

namespace dsm = tulle::dsm;

// The entries of src/arch call these; nobody else does.
extern "C" {

void tulle_coherent_do_load(std::uint64_t address) noexcept {
    if (dsm::is_host()) return dsm::make_loadable(address);
    dsm::check(address, address, dsm::k_forbids_loads);
}

void tulle_coherent_do_store(std::uint64_t address) noexcept {
    dsm::check(address, address, dsm::k_forbids_stores);
}

void tulle_coherent_do_load_range(std::uint64_t first, std::uint64_t last) noexcept {
    dsm::check(first, last, dsm::k_forbids_loads);
}

void tulle_coherent_do_store_range(std::uint64_t first, std::uint64_t last) noexcept {
    dsm::check(first, last, dsm::k_forbids_stores);
}

void tulle_coherent_do_load_rows(std::uint64_t first, std::uint64_t last, std::int64_t stride,
                                 std::uint64_t more) noexcept {
    dsm::check_rows(first, last, stride, more, dsm::k_forbids_loads);
}

void tulle_coherent_do_store_rows(std::uint64_t first, std::uint64_t last, std::int64_t stride,
                                  std::uint64_t more) noexcept {
    dsm::check_rows(first, last, stride, more, dsm::k_forbids_stores);
}

void tulle_directory_do_load(std::uint64_t address, tulle_directory_held* held) noexcept {
    dsm::directory_host* const host = dsm::by_directory();
    dsm::give(held, host != nullptr ? host->begin_load(address) : dsm::nobody());
}

void tulle_directory_do_store(std::uint64_t address, tulle_directory_held* held) noexcept {
    dsm::directory_host* const host = dsm::by_directory();
    dsm::give(held, host != nullptr ? host->begin_store(address) : dsm::nobody());
}

// While the program is relocated. Nothing can be said yet, so that an error is left to
// tulle_coherent_do_start; and sanitizers have not begun, which leave no room for the table.
void tulle_coherent_prepare_start() noexcept {
    if constexpr (!tulle::base::k_address_sanitizer && !tulle::base::k_thread_sanitizer)
        static_cast<void>(dsm::map_state_table(dsm::table_extent::of_all_addresses));
}

void tulle_coherent_do_start(std::uint32_t abi) noexcept {
    dsm::start_object(abi, dsm::scheme_of(abi >> TULLE_COHERENT_SCHEME_SHIFT));
    TULLE_CHECK(dsm::map_state_table(dsm::table_extent::of_all_addresses),
                "coherent memory: no room for the table of states, %llu GiB of addresses at %#llx "
                "(%s); programs with a sanitizer of addresses or threads, and limits on the "
                "address space (ulimit -v), leave none",
                static_cast<unsigned long long>(TULLE_COHERENT_STATES_BYTES >> 30),
                static_cast<unsigned long long>(TULLE_COHERENT_STATES), std::strerror(errno));
}

} // extern "C"

std::uint64_t tulle_coherent_atomic(std::uint64_t address, std::uint64_t operand,
                                    std::uint64_t expected, std::uint32_t action) {
    return dsm::access_coherently(address, operand, expected, action);
}
