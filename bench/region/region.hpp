// SPDX-License-Identifier: Apache-2.0
// region: start and end of a loop with nothing in it, of one iteration for each worker; all workers
// are awake. Figure: ns per loop.
#pragma once

#include "../common/harness.hpp"
#include "../common/visits.hpp"

namespace tulle::bench {

// `loop(k, body)` runs body(0) to body(k - 1).
template <class Loop> int region_main(char const* library, settings const& s, Loop loop) {
    figure cost{"ns/loop"};
    bool right = true;
    for (int k = 0; k < 1000; ++k) right &= visits_each_once(s.workers, loop);
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        double const time = time_of([&] {
            for (long r = 0; r < s.n; ++r) loop(s.workers, [](int) { touch(); });
        });
        if (i >= 0) cost.add(time * 1e9 / static_cast<double>(s.n), right);
    }
    return print_all("region", library, s, {cost});
}

inline settings region_settings(int argc, char** argv) {
    settings const s = parse(argc, argv, {200'000, 20'000});
    pin_if_single(s);
    return s;
}

} // namespace tulle::bench
