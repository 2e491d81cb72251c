// SPDX-License-Identifier: Apache-2.0
// shepherds: the six microbenchmarks of the paper on Qthreads, by POSIX threads and by shepherds of
// one worker each. With n = 1,000,000:
//   (a) 10 threads add 1 to a shared counter n times each       (b) 1000 threads lock one mutex n /
//   100 times each (c) 10 threads lock n mutexes, one after the other          (d) 10 threads lock
//   10 spin locks n / 10,000 times each (e) n threads in blocks of 200, at most 400 alive
//   (f) n threads at once
// In (b) and (c) a lock is an address, as qthread_lock() has it; (b') is (b) with a mutex object.
// Figures: s each.
// Source: Wheeler, Murphy, Thain, Qthreads (IPDPS 2008), section 4.1, figures 1 and 2.
//
// Threads: group as in serial.hpp; counter with increment() and value(); mutex and spin_lock;
// addresses(n), whose [k] is a lock or a name of one.
#pragma once

#include "../common/harness.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tulle::bench {

template <class Threads> class paper_programs {
public:
    explicit paper_programs(long n) : m_n(n) {}

    // Each: whether the result is right.
    bool increment() {
        typename Threads::counter shared;
        run_all(k_few, [&shared, n = m_n] {
            for (long k = 0; k < n; ++k) shared.increment();
        });
        return shared.value() == k_few * m_n;
    }
    bool one_address() {
        long protected_sum = 0;
        typename Threads::addresses locks(1);
        auto const times = m_n / 100;
        run_all(k_many, [&, times] {
            for (long k = 0; k < times; ++k) {
                auto&& lock = locks[0];
                std::lock_guard const held(lock);
                keep(++protected_sum);
            }
        });
        return protected_sum == k_many * times;
    }
    bool one_mutex() {
        long protected_sum = 0;
        typename Threads::mutex lock;
        auto const times = m_n / 100;
        run_all(k_many, [&, times] {
            for (long k = 0; k < times; ++k) {
                std::lock_guard const held(lock);
                keep(++protected_sum);
            }
        });
        return protected_sum == k_many * times;
    }
    bool many_addresses() {
        typename Threads::addresses locks(static_cast<std::size_t>(m_n));
        std::vector<unsigned char> visits(static_cast<std::size_t>(m_n));
        run_all(k_few, [&] {
            for (std::size_t k = 0; k < visits.size(); ++k) {
                auto&& lock = locks[k];
                std::lock_guard const held(lock);
                ++visits[k];
            }
        });
        return std::all_of(visits.begin(), visits.end(),
                           [](unsigned char count) { return count == k_few; });
    }
    bool spin() {
        std::array<typename Threads::spin_lock, k_spin_locks> locks{};
        std::array<long, k_spin_locks> sums{};
        auto const times = std::max(m_n / 10'000, 1L);
        run_all(k_few, [&, times] {
            for (long k = 0; k < times; ++k) {
                for (std::size_t i = 0; i < k_spin_locks; ++i) {
                    std::lock_guard const held(locks[i]);
                    keep(++sums[i]);
                }
            }
        });
        return std::all_of(sums.begin(), sums.end(),
                           [times](long sum) { return sum == k_few * times; });
    }
    bool in_blocks() {
        std::atomic<long> ran{0};
        {
            typename Threads::group blocks[2];
            int turn = 0;
            for (long k = 0; k < m_n; k += k_block, turn ^= 1) {
                for (long i = k; i < std::min(k + k_block, m_n); ++i)
                    blocks[turn].spawn([&ran] { ran.fetch_add(1, std::memory_order_relaxed); });
                blocks[turn ^ 1].wait();
            }
            blocks[turn ^ 1].wait();
        }
        return ran.load(std::memory_order_relaxed) == m_n; // the joins order the counts before this
    }
    bool at_once() {
        std::atomic<long> ran{0};
        typename Threads::group all;
        for (long k = 0; k < m_n; ++k)
            all.spawn([&ran] { ran.fetch_add(1, std::memory_order_relaxed); });
        all.wait();
        return ran.load(std::memory_order_relaxed) == m_n; // as above
    }

private:
    static constexpr long k_few = 10;
    static constexpr long k_many = 1000;
    static constexpr long k_block = 200;
    static constexpr std::size_t k_spin_locks = 10;

    template <class F> static void run_all(long count, F f) {
        typename Threads::group threads;
        for (long k = 0; k < count; ++k) threads.spawn([&f] { f(); });
        threads.wait();
    }

    long m_n;
};

// Measures them all in `library`; `can_be_at_once`: that many threads can be alive.
template <class Threads, class Library>
int shepherds_main(char const* name, settings const& s, Library& library,
                   bool can_be_at_once = true) {
    using programs = paper_programs<Threads>;
    struct part {
        char const* unit;
        bool (programs::*run)();
    };
    std::vector<part> parts{{"s: (a) increments", &programs::increment},
                            {"s: (b) one address locked", &programs::one_address},
                            {"s: (b') one mutex locked", &programs::one_mutex},
                            {"s: (c) many addresses locked", &programs::many_addresses},
                            {"s: (d) spin locks", &programs::spin},
                            {"s: (e) threads in blocks", &programs::in_blocks}};
    if (can_be_at_once) parts.push_back({"s: (f) threads at once", &programs::at_once});
    std::vector<figure> figures;
    for (part const& p : parts) {
        figure& f = figures.emplace_back(figure{p.unit});
        for (int i = 0; i < s.runs; ++i) {
            library.run([&] {
                programs all(s.n);
                bool right = false;
                double const time = time_of([&] { right = (all.*p.run)(); });
                f.add(time, right);
            });
        }
    }
    return print_all("shepherds", name, s, figures);
}

inline settings shepherds_settings(int argc, char** argv) {
    return parse(argc, argv, {1'000'000, 20'000});
}

} // namespace tulle::bench
