// SPDX-License-Identifier: Apache-2.0
// What calls with any kind of arguments have in common.
#pragma once

#include "../common/places.hpp"
#include "at.hpp"

#include <cstddef>
#include <vector>

namespace tulle::bench {

struct calls_over_places {
    tulle::place there{1};
    std::vector<std::byte> bytes{};

    bool call() const {
        tulle::at(there, [] {});
        return true;
    }
};

} // namespace tulle::bench
