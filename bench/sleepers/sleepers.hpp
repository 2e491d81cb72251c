// SPDX-License-Identifier: Apache-2.0
// sleepers: n threads alive at once, of which each sleeps for a time of its own between half a second and one and a half. Each run has a process of
// its own. Figures: ms late, half of the threads and 99 of 100 at most, and the latest; us of CPU for each thread, from its creation to its end; and
// the same for as many threads that wait for one event, so that the difference is what time costs.
// Right: all have slept, and none less than it wanted.
#pragma once

#include "../common/harness.hpp"
#include "../common/memory.hpp"
#include "../common/processor_time.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace tulle::bench {

inline constexpr std::int64_t k_shortest_sleep_ns = 500'000'000;
inline constexpr std::int64_t k_sleep_range_ns = 1'000'000'000;

// The same in every library.
inline std::int64_t sleep_of(long k) {
    auto x = static_cast<std::uint64_t>(k) * 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EB;
    return k_shortest_sleep_ns + static_cast<std::int64_t>((x ^ (x >> 31U)) % static_cast<std::uint64_t>(k_sleep_range_ns));
}

inline std::int64_t clock_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Library> class sleeping_crowd {
public:
    sleeping_crowd(long n, bool by_time) : m_count(n), m_by_time(by_time), m_late(static_cast<std::size_t>(n), -1) {}

    void run() {
        for (long k = 0; k < m_count; ++k) Library::detach([this, k] { stay(k); });
        if (!m_by_time) {
            m_full.wait();
            m_gate.set();
        }
        m_over.wait();
    }
    // In ns; sorted. Negative: it has slept less than it wanted.
    [[nodiscard]] std::vector<std::int64_t> lateness() const {
        std::vector<std::int64_t> sorted = m_late;
        std::sort(sorted.begin(), sorted.end());
        return sorted;
    }

private:
    void stay(long k) {
        m_by_time ? sleep(k) : wait();
        if (m_left.fetch_add(1, std::memory_order_acq_rel) + 1 == m_count) m_over.set(); // the lateness of all comes before the event
    }
    void sleep(long k) {
        std::int64_t const wanted = sleep_of(k);
        std::int64_t const start = clock_ns();
        Library::sleep_for(std::chrono::nanoseconds(wanted));
        m_late[static_cast<std::size_t>(k)] = clock_ns() - start - wanted;
    }
    void wait() {
        if (m_arrived.fetch_add(1, std::memory_order_relaxed) + 1 == m_count) m_full.set(); // relaxed: only a count
        m_gate.wait();
    }

    long m_count;
    bool m_by_time;
    typename Library::event m_full;
    typename Library::event m_gate;
    typename Library::event m_over;
    std::atomic<long> m_arrived{0};
    std::atomic<long> m_left{0};
    std::vector<std::int64_t> m_late;
};

struct sleepers_result {
    double median_ms = 0;
    double p99_ms = 0;
    double longest_ms = 0;
    double cpu_us = 0;
    bool ok = false;
};

template <class Library> sleepers_result sleepers_once(int workers, long n, bool by_time) {
    auto const crowd = std::make_unique<sleeping_crowd<Library>>(n, by_time); // until the last thread has quite ended
    sleepers_result result;
    {
        Library library(workers);
        library.run([&] {
            double const before = processor_seconds();
            crowd->run();
            result.cpu_us = 1e6 * (processor_seconds() - before) / static_cast<double>(n);
        });
    }
    std::vector<std::int64_t> const late = crowd->lateness();
    auto const ms_at = [&](double part) {
        return 1e-6 * static_cast<double>(late[static_cast<std::size_t>(part * static_cast<double>(n - 1))]);
    };
    result.median_ms = ms_at(0.5);
    result.p99_ms = ms_at(0.99);
    result.longest_ms = ms_at(1);
    result.ok = !by_time || late.front() >= 0;
    return result;
}

template <class Library> std::vector<figure> sleepers_figures(settings const& s) {
    std::vector<figure> figures;
    for (char const* const unit :
         {"ms late, median, ", "ms late, p99, ", "ms late, longest, ", "us CPU each, ", "us CPU each if for an event, "})
        figures.push_back(figure_of_threads(unit, s.n));
    for (int i = 0; i < s.runs; ++i) {
        // First for an event: that lateness counts in memory which the system has at hand.
        sleepers_result const floor = in_child([&] { return sleepers_once<Library>(s.workers, s.n, false); });
        sleepers_result const r = in_child([&] { return sleepers_once<Library>(s.workers, s.n, true); });
        figures[0].add(r.median_ms, r.ok);
        figures[1].add(r.p99_ms, r.ok);
        figures[2].add(r.longest_ms, r.ok);
        figures[3].add(r.cpu_us, r.ok);
        figures[4].add(floor.cpu_us, floor.ok);
    }
    return figures;
}

// `sizes`: the numbers of threads, and the one with --quick.
template <class Library> int sleepers_main(int argc, char** argv, std::vector<long> sizes, long quick) {
    settings s = parse(argc, argv, {0, quick});
    pin_if_single(s);
    if (s.n != 0) sizes = {s.n};
    int code = 0;
    for (long const n : sizes) {
        s.n = n;
        code = std::max(code, print_all("sleepers", Library::k_name, s, sleepers_figures<Library>(s)));
    }
    return code;
}

} // namespace tulle::bench
