// SPDX-License-Identifier: Apache-2.0
// The machine of lock_core: os::machine, and an exchange that is a fence.
#pragma once

#include "arch/exchange_fence.hpp"
#include "os/machine.hpp"

#include <atomic>
#include <cstdint>

namespace tulle::parmacs {

struct lock_machine : os::machine {
    // Stores `wanted` if the word holds `expected`, and is then a full fence, too: for the price of
    // one where the processor's exchange is both.
    [[nodiscard]] static bool exchange_and_fence(atomic<std::uint32_t>& word,
                                                 std::uint32_t expected,
                                                 std::uint32_t wanted) noexcept {
        // seq_cst: the compiler moves nothing over it. relaxed: nothing has happened.
        if (!word.compare_exchange_strong(expected, wanted, std::memory_order_seq_cst,
                                          std::memory_order_relaxed))
            return false;
        arch::k_exchange_is_fence ? compiler_barrier() : fence_seq_cst();
        return true;
    }
};

} // namespace tulle::parmacs
