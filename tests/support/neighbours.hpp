// SPDX-License-Identifier: Apache-2.0
//
// Work for tests with another library of threads in the same process, whose sums are known, and
// what the workers use when nobody works.
#pragma once

#include "runtime_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include <pthread.h>
#include <time.h>

namespace neighbours {

// OS threads of the other library; more than there are processors on a small machine.
inline constexpr int k_team = 3;
inline constexpr int k_threads = 60;
inline constexpr int k_items = 2000;

inline long value_of(int i) { return (i * 7L + 3) % 101; }

inline long serial_sum(int from, int to) {
    long sum = 0;
    for (int i = from; i < to; ++i) sum += value_of(i);
    return sum;
}

// All kinds of use, by a thread that may be foreign: forks, threads, a lock, a wait.
inline long use_tulle(int k) {
    auto forked = tulle::fork([k] { return value_of(k); });
    auto spawned = tulle::spawn([k] {
        tulle::this_thread::yield();
        return value_of(k + 1);
    });
    tulle::latch done(4);
    tulle::mutex m;
    long sum = 0;
    for (int i = 0; i < 4; ++i)
        tulle::spawn_detached([&done, &m, &sum, k, i] {
            {
                std::lock_guard const held(m);
                sum += value_of(k + i);
            }
            done.count_down();
        });
    done.wait();
    return sum + spawned.join() + forked.join();
}
inline long expected_of_tulle(int k) {
    return value_of(k) + value_of(k + 1) + serial_sum(k, k + 4);
}

// Runs it on an OS thread that Tulle has not made, while the caller waits as Tulle's threads wait.
template <class F> void run_on_foreign_thread(F f) {
    tulle::latch done(1);
    std::thread foreign([&done, &f] {
        f();
        done.count_down();
    });
    done.wait();
    foreign.join();
}

inline double cpu_seconds_of(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Processor time of the workers without the caller, who is one.
inline double cpu_seconds_of_workers() {
    double sum = 0;
    for (auto const& w : tulle::sched::scheduler::instance().workers()) {
        clockid_t clock{};
        if (w->has_os_thread && pthread_getcpuclockid(w->os_thread, &clock) == 0)
            sum += cpu_seconds_of(clock);
    }
    return sum;
}

// Of the processor time that the caller used before, while it sleeps in the kernel for as long.
inline double idle_share_of_workers_now() {
    // Past the time after which memory is given back.
    tulle::this_thread::sleep_for(std::chrono::milliseconds(100));
    double const begin = cpu_seconds_of(CLOCK_THREAD_CPUTIME_ID);
    while (cpu_seconds_of(CLOCK_THREAD_CPUTIME_ID) < begin + 0.1) {}
    double const used = cpu_seconds_of_workers();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return (cpu_seconds_of_workers() - used) / 0.1;
}

// The least of some: on a slow machine workers may be on their way to sleep for longer.
inline double idle_share_of_workers() {
    double least = idle_share_of_workers_now();
    for (int again = 0; again < 4 && least >= 0.1; ++again)
        least = std::min(least, idle_share_of_workers_now());
    return least;
}

} // namespace neighbours
