// SPDX-License-Identifier: Apache-2.0
#include "overflow.hpp"

#include <tulle/detail/attributes.hpp>

#include <cstddef>
#include <cstdint>

namespace {

// The fault is here, far below the stack that this thread has.
TULLE_NOINLINE void fault() {
    std::uintptr_t volatile const address = 16;
    *reinterpret_cast<volatile char*>(address) = 1;
}

} // namespace

void step_over_the_guard() {
    // With a stack of 64 KiB it ends in the middle of the neighbour's.
    constexpr std::size_t k_bytes = std::size_t{96} << 10U;
    volatile char local[k_bytes];
    keep(local);
    fault();
    keep(local);
}
