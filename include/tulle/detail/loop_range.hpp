// SPDX-License-Identifier: Apache-2.0
// The owner's side of a range of iterations: what a loop touches for each one while nobody steals.
// No locked instruction, no fence.
// The other side, the invariants and the reasons: src/loop/loop_range.hpp, src/loop/README.md.
//   owner  C1 store position; compiler barrier; C2 load border
//   thief  D1 store border; membarrier; D2 load position
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/machine.hpp>

#include <cstdint>

namespace tulle::detail {

template <class Machine> struct alignas(64) basic_loop_front {
    template <class T> using atomic = typename Machine::template atomic<T>;

    // The first iteration that the owner has not begun; written by the owner only.
    atomic<std::uint64_t> position{0};
    // The owner begins what is below without asking; written under the range's lock.
    atomic<std::uint64_t> border{0};

    // The owner, which has begun all below `first`, begins [first, first + count). False: not all
    // of that is its own; ask loop_range::take_cold.
    // relaxed, both: iterations carry no data; what they read was published with the loop.
    [[nodiscard]] TULLE_INLINE bool take(std::uint64_t first, std::uint64_t count) noexcept {
        position.store(first + count, std::memory_order_relaxed); // C1
        Machine::compiler_barrier();
        // C2; ordered by the thief's membarrier.
        return first + count <= border.load(std::memory_order_relaxed);
    }
};

using loop_front = basic_loop_front<native_machine>;

} // namespace tulle::detail
