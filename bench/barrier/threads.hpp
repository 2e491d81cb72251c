// SPDX-License-Identifier: Apache-2.0
// barrier over the number of threads, which are dealt to all places; figure 6 of Ye and others,
// "TiNy Threads on BlueGene/P" (2009).
#pragma once

#include "rounds.hpp"

#include <algorithm>
#include <vector>

namespace tulle::bench {

// What each thread but the first does: `wait` takes part in a barrier of all.
template <class Wait> void pass_barriers(barrier_check const& check, long n, Wait wait) {
    check.take_part(wait);
    for (long k = 0; k < n; ++k) wait();
    check.take_part(wait);
}

// And the first, which takes the time of the n between the checks. These keep the threads together
// before and after.
template <class Wait> double time_of_barriers(barrier_check const& check, long n, Wait wait) {
    check.take_part(wait);
    double const time = time_of([&] {
        for (long k = 0; k < n; ++k) wait();
    });
    check.take_part(wait);
    return time;
}

// time_barriers(check, threads, n): the seconds that n barriers of so many threads take, of which
// the caller is one.
template <class Barriers>
figure measure_barriers(settings const& s, int threads, Barriers time_barriers) {
    figure cost = figure_of_threads("ns, ", threads);
    long const n = std::max(20L, s.n / threads);
    for (int run = -1; run < s.runs; ++run) { // run -1 warms up
        auto const check = barrier_check::make(threads);
        double const time = time_barriers(check, threads, n);
        bool const right = check.destroy();
        if (run >= 0) cost.add(1e9 * time / static_cast<double>(n), right);
    }
    return cost;
}

template <class Barriers>
int barrier_of_threads_main(int argc, char** argv, char const* library_name,
                            Barriers time_barriers) {
    settings const s = parse(argc, argv, {4'000, 400});
    tulle_places library(s);
    std::vector<figure> figures;
    library.run([&] {
        for (int threads = s.places; threads <= 256; threads *= 2)
            figures.push_back(measure_barriers(s, threads, time_barriers));
    });
    return print_all("barrier", library_name, s, figures);
}

} // namespace tulle::bench
