// SPDX-License-Identifier: Apache-2.0
// Sets of addresses as ranges in ascending order that do not touch. All throw std::bad_alloc.
#pragma once

#include <cstdint>
#include <vector>

namespace tulle::program {

struct range {
    std::uint64_t begin;
    std::uint64_t end;
};
using ranges = std::vector<range>;

// Of ranges in any order.
[[nodiscard]] ranges joined(ranges any);
[[nodiscard]] ranges without(ranges const& all, ranges const& others);

} // namespace tulle::program
