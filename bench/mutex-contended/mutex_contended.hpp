// SPDX-License-Identifier: Apache-2.0
// mutex-contended: 8 threads add to one counter under one mutex, n times in all. Figures: ns per
// lock and unlock; and, from a second pass that reads the clock around each lock, ms: the longest
// that any thread waited for the mutex.
#pragma once

#include "../common/harness.hpp"

#include <algorithm>
#include <array>

namespace tulle::bench {

inline constexpr int k_contenders = 8;

template <class Library> struct contention {
    typename Library::mutex mutex{};
    long counter = 0;
    std::array<double, k_contenders> longest{};

    void add(long times) {
        for (long k = 0; k < times; ++k) {
            mutex.lock();
            ++counter;
            keep(counter);
            mutex.unlock();
        }
    }

    void add_watched(long times, double& worst) {
        for (long k = 0; k < times; ++k) {
            double const asked = seconds();
            mutex.lock();
            worst = std::max(worst, seconds() - asked);
            ++counter;
            mutex.unlock();
        }
    }

    void pass(long each, bool watched) {
        typename Library::group threads;
        for (int t = 0; t < k_contenders; ++t) {
            threads.spawn([this, each, watched, t] {
                if (watched)
                    add_watched(each, longest[static_cast<std::size_t>(t)]);
                else
                    add(each);
            });
        }
        threads.wait();
    }
};

template <class Library> int mutex_contended_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {4'000'000, 80'000, k_contenders});
    pin_if_single(s);
    Library library(s.workers);
    long const each = s.n / k_contenders;
    figure cost{"ns"};
    figure wait{"ms longest wait"};
    for (int i = 0; i < s.runs; ++i) {
        library.run([&] {
            contention<Library> c;
            double const time = time_of([&] { c.pass(each, false); });
            cost.add(1e9 * time / static_cast<double>(each * k_contenders),
                     c.counter == each * k_contenders);
            c.pass(each, true);
            wait.add(1e3 * *std::max_element(c.longest.begin(), c.longest.end()),
                     c.counter == 2 * each * k_contenders);
        });
    }
    return print_all("mutex-contended", Library::k_name, s, {cost, wait});
}

} // namespace tulle::bench
