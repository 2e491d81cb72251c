// SPDX-License-Identifier: Apache-2.0
// What checks of accesses cost over all programs of a benchmark, computed from the times of each.
#pragma once

#include "bench/figure.hpp"

#include <vector>

namespace tulle::tool {

// Of each kind of checks and each level of optimization: the geometric mean, the mean, and the
// worst of the times with checks over those without, as the shortest runs have them. `n` is the
// number of programs. Times are figures of checked_KIND in "ms, PROGRAM LEVEL".
[[nodiscard]] std::vector<figure> overheads_of_checks(std::vector<figure> const& figures);

} // namespace tulle::tool
