// SPDX-License-Identifier: Apache-2.0
// A thread that holds a place of a spawn_group, in its frame (src/group/permits.hpp).
#pragma once

#include <cstddef>

namespace tulle::detail {

struct place_holder {
    std::size_t column = 0;
    void* lender = nullptr; // who has lent it the place, and still waits for it
};

} // namespace tulle::detail
