// SPDX-License-Identifier: Apache-2.0
// What checks of instrumented code call (tulle/coherent_abi.h). While all that share memory are
// processes of one host, the hardware keeps it coherent: each line may be touched by all, each
// state is 0, and slow paths are called only to look at the states of more than two lines.
#include "dsm/atomic_access.hpp"
#include "dsm/state_table.hpp"

#include "base/assert.hpp"

#include <cerrno>
#include <cstring>

#include <tulle/coherent_abi.h>

namespace tulle::dsm {

namespace {

constexpr std::uint8_t k_forbids_loads = TULLE_COHERENT_NO_LOAD;
constexpr std::uint8_t k_forbids_stores = TULLE_COHERENT_NO_LOAD | TULLE_COHERENT_NO_STORE;

// Memory of this host is allowed for everything; who else sets a state has damaged the table.
void make_usable(std::uint64_t first, std::uint64_t last, std::uint8_t forbidding) noexcept {
    if (last < first) return;
    state_range const states = states_of(first, last);
    auto const bad = find_state(states, forbidding);
    TULLE_CHECK(!bad,
                "coherent memory: the state of line %zu from %#llx on is %#x, which nothing "
                "on one host sets; the table of states has been written to",
                *bad, static_cast<unsigned long long>(first), states.first[*bad]);
}

// Rows are often short, and there may be very many of them.
bool is_usable(std::uint64_t first, std::uint64_t last, std::uint8_t forbidding) noexcept {
    if (last - first > TULLE_COHERENT_LINE || !is_coherent(first) || !is_coherent(last))
        return false;
    return ((state_of(first) | state_of(last)) & forbidding) == 0;
}

void make_rows_usable(std::uint64_t first, std::uint64_t last, std::int64_t stride,
                      std::uint64_t more, std::uint8_t forbidding) noexcept {
    if (last < first) return;
    for (std::uint64_t row = 0; row <= more; ++row) {
        std::uint64_t const way = static_cast<std::uint64_t>(stride) * row; // modulo 2^64
        if (!is_usable(first + way, last + way, forbidding))
            make_usable(first + way, last + way, forbidding);
    }
}

} // namespace

} // namespace tulle::dsm

namespace dsm = tulle::dsm;

// The entries of src/arch call these; nobody else does.
extern "C" {

void tulle_coherent_do_load(std::uint64_t address) noexcept {
    dsm::make_usable(address, address, dsm::k_forbids_loads);
}

void tulle_coherent_do_store(std::uint64_t address) noexcept {
    dsm::make_usable(address, address, dsm::k_forbids_stores);
}

void tulle_coherent_do_load_range(std::uint64_t first, std::uint64_t last) noexcept {
    dsm::make_usable(first, last, dsm::k_forbids_loads);
}

void tulle_coherent_do_store_range(std::uint64_t first, std::uint64_t last) noexcept {
    dsm::make_usable(first, last, dsm::k_forbids_stores);
}

void tulle_coherent_do_load_rows(std::uint64_t first, std::uint64_t last, std::int64_t stride,
                                 std::uint64_t more) noexcept {
    dsm::make_rows_usable(first, last, stride, more, dsm::k_forbids_loads);
}

void tulle_coherent_do_store_rows(std::uint64_t first, std::uint64_t last, std::int64_t stride,
                                  std::uint64_t more) noexcept {
    dsm::make_rows_usable(first, last, stride, more, dsm::k_forbids_stores);
}

} // extern "C"

void tulle_coherent_start(std::uint32_t abi) {
    TULLE_CHECK(abi == TULLE_COHERENT_ABI,
                "coherent memory: an object file was compiled for version %u of the interface, "
                "and this library has %u; compile it again with the `tulle cc` of this library",
                abi, TULLE_COHERENT_ABI);
    TULLE_CHECK(dsm::map_state_table(),
                "coherent memory: no room for the table of states, %llu GiB of addresses at %#llx "
                "(%s); programs with a sanitizer of addresses or threads, and limits on the "
                "address space (ulimit -v), leave none",
                static_cast<unsigned long long>(TULLE_COHERENT_TABLE_BYTES >> 30),
                static_cast<unsigned long long>(TULLE_COHERENT_TABLE), std::strerror(errno));
}

std::uint64_t tulle_coherent_atomic(std::uint64_t address, std::uint64_t operand,
                                    std::uint64_t expected, std::uint32_t action) {
    return dsm::access_atomically(address, operand, expected, action);
}
