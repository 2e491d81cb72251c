// SPDX-License-Identifier: Apache-2.0
// Counts that the stack pool keeps, for `tulle info` and for tests.
#pragma once

#include <cstddef>

namespace tulle::stack {

// Counts of one class, or of all; a snapshot, exact when no other thread uses the pool.
struct statistics {
    std::size_t reserved_bytes = 0; // address space
    std::size_t created = 0;        // stacks carved out of it, in use or free
    std::size_t in_use = 0;
    std::size_t high_water = 0; // the largest in_use (summed over classes: an upper bound)
    std::size_t growths = 0;
    // Created stacks with a canary in place of a guard; compact ones do not count
    std::size_t unguarded = 0;
};

} // namespace tulle::stack
