// SPDX-License-Identifier: Apache-2.0
// What the programs of global-lock share.
#pragma once

#include "../common/places.hpp"

#include <mutex>
#include <vector>

namespace tulle::bench {

// One for all, in global memory. An increment is a load and a store: without a lock some are lost.
struct global_counter {
    tulle::global_ptr<long> word;

    void increment() const { word.store(word.load() + 1); }
    [[nodiscard]] long exchange(long value) const {
        long const before = word.load();
        word.store(value);
        return before;
    }
};

// Whether n increments, dealt to so many threads at all places, have all been counted. Mutex and
// Counter travel.
template <class Mutex, class Counter>
bool lock_from_all(Mutex const& m, Counter const& counter, int threads, long n) {
    tulle::finish([&](tulle::activities& all) {
        for (int t = 0; t < threads; ++t)
            all.async_at(
                tulle::place(t % tulle::place_count()),
                [](Mutex own, Counter count, long times) {
                    for (long k = 0; k < times; ++k) {
                        std::lock_guard const held(own);
                        count.increment();
                    }
                },
                m, counter, n / threads);
    });
    return counter.exchange(0) == n / threads * threads;
}

inline int global_lock_main(int argc, char** argv, char const* name,
                            tulle::global_mutex::mode mode) {
    settings const s = parse(argc, argv, {100'000, 10'000, 20});
    tulle_places library(s);
    std::vector<figure> figures;
    library.run([&] {
        tulle::place const home(tulle::place_count() - 1);
        global_counter const counter{tulle::allocate_global_at<long>(home)};
        counter.word.store(0);
        for (int const threads : {1, 2, 4, 8, 12, 16, 20}) {
            figure cost = figure_of_threads("ns, ", threads);
            long const n = s.n / threads * threads;
            for (int run = 0; run < s.runs; ++run) {
                auto const m = tulle::global_mutex::make(home, mode);
                bool right = lock_from_all(m, counter, threads, n / 10);
                double const time =
                    time_of([&] { right &= lock_from_all(m, counter, threads, n); });
                cost.add(1e9 * time / static_cast<double>(n), right);
                m.destroy();
            }
            figures.push_back(cost);
        }
        tulle::free_global(counter.word);
    });
    return print_all("global-lock", name, s, figures);
}

} // namespace tulle::bench
