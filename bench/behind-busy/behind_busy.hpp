// SPDX-License-Identifier: Apache-2.0
// behind-busy: each worker runs a thread that computes 50 ms at a time, without a call of the
// library in between, and then yields. A thread of the operating system, foreign to the library,
// sets an event n times, at intervals that are no part of 50 ms; the time until the thread runs
// that has waited for it. Figures: us, median (p50), 99 of 100 (p99), and the longest. What is
// right: each thread has run, once, after its event.
#pragma once

#include "../common/alongside.hpp"
#include "../common/harness.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace tulle::bench {

constexpr double k_computes_s = 0.05;

inline void compute_for(double time) {
    double const end = seconds() + time;
    while (seconds() < end) touch();
}

// The k-th smallest of all for `share` = k / size.
inline double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    auto const at = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
    return values[at];
}

template <class Library> double behind_busy_sample(bool& ok) {
    typename Library::event due, ended;
    std::atomic<double> ran{0};
    std::atomic<int> times{0};
    Library::detach([&] {
        due.wait();
        ran.store(seconds(), std::memory_order_relaxed); // relaxed: `ended` orders it
        times.fetch_add(1, std::memory_order_relaxed);
        ended.set();
    });
    std::this_thread::sleep_for(std::chrono::microseconds(17'300)); // it waits by now
    double const at = seconds();
    due.set();
    ended.wait();
    double const took = ran.load(std::memory_order_relaxed) - at;
    ok = ok && took >= 0 && times.load(std::memory_order_relaxed) == 1;
    return took;
}

template <class Library>
void behind_busy_run(Library& library, settings const& s, std::vector<figure>& figures) {
    std::atomic<bool> done{false};
    std::atomic<int> alive{s.workers};
    for (int k = 0; k < s.workers; ++k)
        library.detach([&] {
            while (!done.load(std::memory_order_relaxed)) { // relaxed: nothing else is passed on
                compute_for(k_computes_s);
                Library::yield();
            }
            alive.fetch_sub(1, std::memory_order_release); // pairs with the load below
        });
    std::vector<double> samples;
    bool ok = true;
    for (long k = 0; k < s.n; ++k) samples.push_back(1e6 * behind_busy_sample<Library>(ok));
    done.store(true, std::memory_order_relaxed);
    while (alive.load(std::memory_order_acquire) != 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    figures[0].add(quantile(samples, 0.5), ok);
    figures[1].add(quantile(samples, 0.99), ok);
    figures[2].add(quantile(samples, 1), ok);
}

template <class Library> int behind_busy_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {200, 20});
    std::vector<figure> figures{{"us, p50"}, {"us, p99"}, {"us, longest"}};
    Library library(s.workers);
    run_alongside(library, [&] {
        for (int i = 0; i < s.runs; ++i) behind_busy_run(library, s, figures);
    });
    return print_all("behind-busy", Library::k_name, s, figures);
}

} // namespace tulle::bench
