// SPDX-License-Identifier: Apache-2.0
#include "dsm/coherent_atomics.hpp"

#include "dsm/atomic_access.hpp"
#include "dsm/coherent_host.hpp"

#include <tulle/coherent_abi.h>

namespace tulle::dsm {

namespace {

constexpr std::uint32_t k_kind_of_action = 0xFF;
constexpr std::uint32_t k_order_of_action = 0xF;

} // namespace

std::uint64_t access_coherently(std::uint64_t address, std::uint64_t operand,
                                std::uint64_t expected, std::uint32_t action) noexcept {
    if (!is_host() || !has(address)) // a variable of this host alone
        return access_atomically(address, operand, expected, action);
    std::uint32_t const order = action >> TULLE_COHERENT_ATOMIC_ORDER_SHIFT & k_order_of_action;
    bool const is_load = (action & k_kind_of_action) == TULLE_COHERENT_ATOMIC_LOAD;
    bool const is_store = (action & k_kind_of_action) == TULLE_COHERENT_ATOMIC_STORE;
    if (!is_load && order >= __ATOMIC_RELEASE) release();
    std::uint64_t const before = access({address, operand, expected, action}, !is_load);
    if (!is_store && order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE) acquire();
    return before;
}

} // namespace tulle::dsm
