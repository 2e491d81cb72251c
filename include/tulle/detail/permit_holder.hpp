// SPDX-License-Identifier: Apache-2.0
// A thread that holds a permit of a spawn_group (src/group/permits.hpp). It lies in the thread's
// frame.
#pragma once

#include <cstddef>

namespace tulle::detail {

struct permit_holder {
    std::size_t column = 0;
    void* lender = nullptr; // of the permit, which still waits for it; null: none
};

} // namespace tulle::detail
