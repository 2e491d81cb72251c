// SPDX-License-Identifier: Apache-2.0
// What calls with any kind of arguments have in common.
#pragma once

#include "../common/places.hpp"
#include "at.hpp"

#include <atomic>
#include <cstddef>
#include <vector>

namespace tulle::bench {

// Of what was called or started at this place. Only a number: it orders nothing.
inline std::atomic<long> s_served{0};
inline void serve() { s_served.fetch_add(1, std::memory_order_relaxed); }

inline long served_at(tulle::place const& there) {
    return tulle::at(there, [] { return s_served.load(std::memory_order_relaxed); });
}

struct calls_over_places {
    tulle::place there{1};
    std::vector<std::byte> bytes{};

    [[nodiscard]] bool call() const {
        tulle::at(there, [] { serve(); });
        return true; // served() tells
    }
    [[nodiscard]] long served() const { return served_at(there); }
};

} // namespace tulle::bench
