// SPDX-License-Identifier: Apache-2.0
#include "os/clock.hpp"

#include <ctime>

namespace tulle::os {

namespace {

std::uint64_t now_of(clockid_t clock) noexcept {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace

std::uint64_t monotonic_ns() noexcept { return now_of(CLOCK_MONOTONIC); }

std::uint64_t last_tick_ns() noexcept { return now_of(CLOCK_MONOTONIC_COARSE); }

std::uint64_t process_time_ns() noexcept { return now_of(CLOCK_PROCESS_CPUTIME_ID); }

// The system's clocks of OS threads are numbered by its identity: pthread_getcpuclockid(3) makes
// the same number, of a thread that must exist.
std::uint64_t thread_time_ns(int tid) noexcept {
    constexpr unsigned k_time_of_one_thread = 6; // CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED
    timespec time{};
    auto const clock =
        static_cast<clockid_t>(~static_cast<unsigned>(tid) << 3U | k_time_of_one_thread);
    if (tid == 0 || clock_gettime(clock, &time) != 0) return 0;
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(time.tv_nsec);
}

} // namespace tulle::os
