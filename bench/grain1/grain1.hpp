// SPDX-License-Identifier: Apache-2.0
// grain1: a loop with nothing in it whose iterations are given out one at a time. Figure: ns per
// iteration, elapsed.
#pragma once

#include "../common/harness.hpp"
#include "../common/visits.hpp"

namespace tulle::bench {

// `loop(n, body)` runs body(0) to body(n - 1).
template <class Loop> int grain1_main(char const* library, settings const& s, Loop loop) {
    figure cost{"ns/iteration"};
    bool const right = visits_each_once(s.n, loop);
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        double const time = time_of([&] { loop(s.n, [](long) { touch(); }); });
        if (i >= 0) cost.add(time * 1e9 / static_cast<double>(s.n), right);
    }
    return print_all("grain1", library, s, {cost});
}

inline settings grain1_settings(int argc, char** argv) {
    settings const s = parse(argc, argv, {10'000'000, 1'000'000});
    pin_if_single(s);
    return s;
}

} // namespace tulle::bench
