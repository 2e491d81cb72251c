// SPDX-License-Identifier: Apache-2.0
// Loops whose bodies are empty leave nothing behind to check; this runs them with a body that
// counts.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

namespace tulle::bench {

// Whether `loop(n, body)` calls body for each of 0 ... n - 1, once, and has done so when it
// returns.
template <class Index, class Loop> bool visits_each_once(Index n, Loop const& loop) {
    std::vector<std::atomic<unsigned char>> visits(static_cast<std::size_t>(n));
    // Relaxed: they are only counted; the end of the loop comes before the look at them.
    loop(n, [&visits](Index k) {
        visits[static_cast<std::size_t>(k)].fetch_add(1, std::memory_order_relaxed);
    });
    bool right = true;
    for (auto const& count : visits) right &= count.load(std::memory_order_relaxed) == 1;
    return right;
}

} // namespace tulle::bench
