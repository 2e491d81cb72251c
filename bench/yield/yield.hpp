// SPDX-License-Identifier: Apache-2.0
// yield: two threads on one worker yield to each other n times in all. Figure: ns per yield.
#pragma once

#include "../common/harness.hpp"

namespace tulle::bench {

// Each partner counts its own turns; the two loops are one timing because each needs the other's
// yields.
template <class Library> double time_yields(long n, bool& right) {
    long turns[2] = {0, 0};
    auto const partner = [n](long& mine) {
        for (; mine < n / 2; ++mine) Library::yield();
    };
    double const elapsed = time_of([&] {
        typename Library::group threads;
        // The same code in both.
        for (long& mine : turns) threads.spawn([&partner, &mine] { partner(mine); });
        threads.wait();
    });
    right = turns[0] == n / 2 && turns[1] == n / 2;
    return elapsed;
}

template <class Library>
int yield_main(int argc, char** argv, sizes size = {10'000'000, 200'000, 2}) {
    settings const s = parse(argc, argv, size);
    pin_if_single(s);
    Library library(s.workers);
    figure cost{"ns"};
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        bool right = false;
        double time = 0;
        library.run([&] { time = time_yields<Library>(i < 0 ? 1000 : s.n, right); });
        if (i >= 0) cost.add(1e9 * time / static_cast<double>(s.n / 2 * 2), right);
    }
    return print_all("yield", Library::k_name, s, {cost});
}

} // namespace tulle::bench
