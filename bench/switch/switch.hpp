// SPDX-License-Identifier: Apache-2.0
// switch: two stacks in turn, no scheduler. Figure: ns per switch.
//
// A library takes part with an object that has   there_and_back()   two switches: to the other
// stack and back.
#pragma once

#include "../common/harness.hpp"

#include <algorithm>

namespace tulle::bench {

template <class Pair>
int switch_main(int argc, char** argv, char const* library, sizes size = {20'000'000, 400'000}) {
    settings const s = parse(argc, argv, size);
    pin_if_single(s);
    Pair pair;
    figure cost{"ns"};
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        long const rounds = std::max(1L, (i < 0 ? 1000 : s.n) / 2);
        long const before = pair.turns();
        double const time = time_of([&] {
            for (long k = 0; k < rounds; ++k) pair.there_and_back();
        });
        if (i >= 0)
            cost.add(1e9 * time / static_cast<double>(2 * rounds), pair.turns() - before == rounds);
    }
    return print_all("switch", library, s, {cost});
}

} // namespace tulle::bench
