// SPDX-License-Identifier: Apache-2.0
// pingpong: two threads pass n values there and back through two cells. Figure: ns per round trip.
#pragma once

#include "../common/harness.hpp"

namespace tulle::bench {

template <class Library, class Cell> double time_round_trips(long n, long& sum) {
    Cell there, back;
    auto const answer = [&there, &back, n] {
        for (long k = 0; k < n; ++k) back.write_ef(there.read_fe() + 1);
    };
    return time_of([&] {
        typename Library::group threads;
        threads.spawn([&answer] { answer(); });
        for (long k = 0; k < n; ++k) {
            there.write_ef(k);
            sum += back.read_fe();
        }
        threads.wait();
    });
}

template <class Library, class Cell>
int pingpong_main(int argc, char** argv, char const* name, sizes size = {2'000'000, 50'000}) {
    settings const s = parse(argc, argv, size);
    pin_if_single(s);
    Library library(s.workers);
    figure cost{"ns"};
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        long const n = i < 0 ? 1000 : s.n;
        long sum = 0;
        double time = 0;
        library.run([&] { time = time_round_trips<Library, Cell>(n, sum); });
        if (i >= 0) cost.add(1e9 * time / static_cast<double>(n), sum == n * (n + 1) / 2);
    }
    return print_all("pingpong", name, s, {cost});
}

} // namespace tulle::bench
