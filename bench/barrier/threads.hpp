// SPDX-License-Identifier: Apache-2.0
// barrier over the number of threads, which are dealt to all places; figure 6 of Ye and others, "TiNy Threads on BlueGene/P" (2009).
#pragma once

#include "../common/places.hpp"

#include <vector>

namespace tulle::bench {

// time_barriers(threads, n): the seconds that n barriers of so many threads take, of which the caller is one.
template <class Barriers> int barrier_of_threads_main(int argc, char** argv, char const* library_name, Barriers time_barriers) {
    settings const s = parse(argc, argv, {4'000, 400});
    tulle_places library(s);
    std::vector<figure> figures;
    library.run([&] {
        for (int threads = s.places; threads <= 256; threads *= 2) {
            figure cost = figure_of_threads("ns, ", threads);
            long const n = std::max(20L, s.n / threads);
            for (int run = -1; run < s.runs; ++run) { // run -1 warms up
                double const time = time_barriers(threads, n);
                if (run >= 0) cost.add(1e9 * time / static_cast<double>(n), true);
            }
            figures.push_back(cost);
        }
    });
    return print_all("barrier", library_name, s, figures);
}

} // namespace tulle::bench
