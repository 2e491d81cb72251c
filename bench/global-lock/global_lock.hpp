// SPDX-License-Identifier: Apache-2.0
// What the programs of global-lock share.
#pragma once

#include "../common/places.hpp"

#include <mutex>
#include <vector>

namespace tulle::bench {

// The counter is at each place, and counts the locks of its threads: so only the lock itself sends messages.
inline bool lock_from_all(tulle::global_mutex const& m, tulle::place_local<long> const& counts, int threads, long n) {
    tulle::finish([&](tulle::activities& all) {
        for (int t = 0; t < threads; ++t)
            all.async_at(
                tulle::place(t % tulle::place_count()),
                [](tulle::global_mutex own, tulle::place_local<long> count, long times) {
                    for (long k = 0; k < times; ++k) {
                        std::lock_guard const held(own);
                        ++*count;
                    }
                },
                m, counts, n / threads);
    });
    long counted = 0;
    for (tulle::place const p : tulle::places())
        counted += tulle::at(
            p, [](tulle::place_local<long> count) { return std::exchange(*count, 0L); }, counts);
    return counted == n / threads * threads;
}

inline int global_lock_main(int argc, char** argv, char const* name, tulle::global_mutex::mode mode) {
    settings const s = parse(argc, argv, {100'000, 10'000});
    tulle_places library(s);
    std::vector<figure> figures;
    library.run([&] {
        auto const counts = tulle::place_local<long>::make([] { return 0L; });
        for (int const threads : {1, 2, 4, 8, 12, 16, 20}) {
            figure cost = figure_of_threads("ns, ", threads);
            for (int run = 0; run < s.runs; ++run) {
                auto const m = tulle::global_mutex::make(tulle::place(tulle::place_count() - 1), mode);
                bool right = lock_from_all(m, counts, threads, s.n / 10);
                double const time = time_of([&] { right &= lock_from_all(m, counts, threads, s.n); });
                cost.add(1e9 * time / static_cast<double>(s.n), right);
                m.destroy();
            }
            figures.push_back(cost);
        }
        counts.destroy();
    });
    return print_all("global-lock", name, s, figures);
}

} // namespace tulle::bench
