// SPDX-License-Identifier: Apache-2.0
// Which program gets which CPUs, when several share a machine by agreement. A pure function.
//   - Each program gets at least one CPU. If that is possible, no two have the same one (a
//     matching, by augmenting paths: Kuhn 1955); otherwise those that are left over share the CPUs
//     with the least weight on them.
//   - Then each gets what it wants at least, then up to what it wants at most: one CPU at a time,
//     to the program with the smallest (2 * CPUs + 1) / weight (Webster's rule of apportionment),
//     also if another one must move for that.
//   - A program that has a CPU keeps it as far as its number allows, first those near most of its
//   others. New
//     ones lie near those that it has.
// A division of its own result is the same again, so each visitor may divide, whether something has
// changed or not.
#pragma once

#include "os/locality.hpp"

#include <span>
#include <vector>

namespace tulle::cpus {

struct program {
    std::vector<int> may; // that it may use; not empty, each once
    std::vector<int> has; // at present; those that it may not use are left out
    int least = 1;        // that it wants; from 1 to most
    int most = 1;
    int weight = 1; // from 1
};

// CPUs of each, ascending, never none. Throws std::bad_alloc.
[[nodiscard]] std::vector<std::vector<int>> divide(std::span<program const> programs,
                                                   os::locality (*where)(int cpu));

} // namespace tulle::cpus
