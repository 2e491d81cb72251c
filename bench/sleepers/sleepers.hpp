// SPDX-License-Identifier: Apache-2.0
// sleepers: n threads sleep at once, each until a time of its own, spread evenly in no order over
// k_spread_s, which begins when all have been made.
// Figures: us late, half of them (p50) and 99 of 100 (p99), and us of processor time for each
// thread, from its creation to its end. What is right:
// each thread has woken once, and none early.
#pragma once

#include "../common/alongside.hpp"
#include "../common/harness.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace tulle::bench {

constexpr double k_spread_s = 4;
// A prime: k * k_stride mod n visits all of n, unless it divides n.
constexpr std::uint64_t k_stride = 7'368'787;

inline double quantile(std::vector<double>& values, double share) {
    auto const at = values.begin() +
                    static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

template <class Library> class sleepers {
public:
    using clock = std::chrono::steady_clock;

    explicit sleepers(long n) : m_late(static_cast<std::size_t>(n), -1) {}

    // They begin to sleep until then, which is after all have been made.
    void run(double time_to_make) {
        m_first = clock::now() + std::chrono::duration_cast<clock::duration>(
                                     std::chrono::duration<double>(time_to_make));
        for (std::size_t k = 0; k < m_late.size(); ++k) Library::detach([this, k] { sleep(k); });
        m_all_made_in_time = clock::now() < m_first;
        while (m_woken.load(std::memory_order_acquire) < m_late.size())
            Library::sleep_until(clock::now() + std::chrono::milliseconds(20));
    }
    [[nodiscard]] bool all_made_in_time() const { return m_all_made_in_time; }
    [[nodiscard]] std::vector<double>& late() { return m_late; }
    [[nodiscard]] bool is_right() const {
        return m_woken.load() == m_late.size() &&
               *std::min_element(m_late.begin(), m_late.end()) >= 0;
    }

private:
    void sleep(std::size_t k) {
        auto const share =
            static_cast<double>(k * k_stride % m_late.size()) / static_cast<double>(m_late.size());
        auto const due = m_first + std::chrono::duration_cast<clock::duration>(
                                       std::chrono::duration<double>(share * k_spread_s));
        Library::sleep_until(due);
        m_late[k] = 1e6 * std::chrono::duration<double>(clock::now() - due).count();
        m_woken.fetch_add(1, std::memory_order_release); // pairs with run
    }

    std::vector<double> m_late;
    clock::time_point m_first;
    std::atomic<std::size_t> m_woken{0};
    bool m_all_made_in_time = false;
};

template <class Library> void sleepers_run(settings const& s, std::vector<figure>& figures) {
    for (double time_to_make = 0.5;; time_to_make *= 2) {
        double const used = processor_seconds();
        sleepers<Library> all(s.n);
        all.run(time_to_make);
        if (!all.all_made_in_time() && time_to_make < 100) continue;
        bool const ok = all.is_right() && all.all_made_in_time();
        figures[2].add(1e6 * (processor_seconds() - used) / static_cast<double>(s.n), ok);
        figures[0].add(quantile(all.late(), 0.5), ok);
        figures[1].add(quantile(all.late(), 0.99), ok);
        return;
    }
}

template <class Library>
int sleepers_main(int argc, char** argv, sizes size = {1'000'000, 20'000}) {
    settings const s = parse(argc, argv, size);
    std::vector<figure> figures{{"us late, p50"}, {"us late, p99"}, {"us of CPU"}};
    Library library(s.workers);
    for (int i = 0; i < s.runs; ++i) library.run([&] { sleepers_run<Library>(s, figures); });
    return print_all("sleepers", Library::k_name, s, figures);
}

} // namespace tulle::bench
