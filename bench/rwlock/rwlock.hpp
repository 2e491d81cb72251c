// SPDX-License-Identifier: Apache-2.0
// rwlock: one thread reads under a lock that nobody else wants; then 8 threads, of whose sections
// each tenth writes. Figures: ns per section alone; ns per section together; ms: the longest that
// any of the threads together waited, from another pass.
#pragma once

#include "../common/harness.hpp"

#include <algorithm>
#include <array>

namespace tulle::bench {

inline constexpr int k_sharers = 8;

template <class Mutex> struct shared_counter {
    Mutex mutex{};
    long first = 0, second = 0;
    std::array<long, k_sharers> torn{};
    std::array<double, k_sharers> longest{};

    void write() {
        mutex.lock();
        ++first;
        keep(first);
        ++second;
        mutex.unlock();
    }
    bool read() {
        mutex.lock_shared();
        bool const is_whole = first == second;
        mutex.unlock_shared();
        return is_whole;
    }
    void use(long times, std::size_t self, bool watched) {
        for (long k = 0; k < times; ++k) {
            double const asked = watched ? seconds() : 0;
            if (k % 10 == 0)
                write();
            else if (!read())
                ++torn[self];
            if (watched) longest[self] = std::max(longest[self], seconds() - asked);
        }
    }
    template <class Library> void share(long each, bool watched) {
        typename Library::group threads;
        for (std::size_t t = 0; t < k_sharers; ++t)
            threads.spawn([this, each, t, watched] { use(each, t, watched); });
        threads.wait();
    }
    // Whether another thread is kept from writing while this one reads, and no longer.
    template <class Library> [[nodiscard]] bool excludes_writers() {
        mutex.lock_shared();
        bool const kept_out = !another_may_write<Library>();
        mutex.unlock_shared();
        return kept_out && another_may_write<Library>();
    }
    [[nodiscard]] bool is_right(long writes) const {
        return first == writes &&
               std::all_of(torn.begin(), torn.end(), [](long n) { return n == 0; });
    }

private:
    template <class Library> bool another_may_write() {
        bool may = false;
        typename Library::group threads;
        threads.spawn([this, &may] {
            may = mutex.try_lock();
            if (may) mutex.unlock();
        });
        threads.wait();
        return may;
    }
};

template <class Library, class Mutex> int rwlock_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {4'000'000, 80'000, 10 * k_sharers});
    pin_if_single(s);
    Library library(s.workers);
    long const each = s.n / k_sharers / 10 * 10;
    figure alone{"ns"}, together{"ns/shared"}, wait{"ms longest wait"};
    for (int i = 0; i < s.runs; ++i) {
        library.run([&] {
            shared_counter<Mutex> c;
            bool right = c.template excludes_writers<Library>();
            double time = time_of([&] {
                for (long k = 0; k < s.n; ++k) right &= c.read();
            });
            alone.add(1e9 * time / static_cast<double>(s.n), right);
            time = time_of([&] { c.template share<Library>(each, false); });
            together.add(1e9 * time / static_cast<double>(each * k_sharers),
                         c.is_right(each / 10 * k_sharers));
            c.template share<Library>(each, true);
            wait.add(1e3 * *std::max_element(c.longest.begin(), c.longest.end()),
                     c.is_right(2 * (each / 10) * k_sharers));
        });
    }
    return print_all("rwlock", Library::k_name, s, {alone, together, wait});
}

} // namespace tulle::bench
