// SPDX-License-Identifier: Apache-2.0
// How long a thread has computed nobody measures: what the system counts is the worker's, and a
// thread that goes over to another one would find that its time has gone back. What stands for it
// never does: the time of the process, or that since the thread has begun, whichever is less. Of a
// thread that computes all the time, as others do, that is its own.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "os/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tulle::posix {

namespace {

constexpr std::uint64_t k_second = 1'000'000'000;

std::uint64_t age_of(thread const& t) noexcept { return os::monotonic_ns() - t.began_ns; }

timespec processor_time_of(thread const& t) noexcept {
    std::uint64_t const taken = std::min(os::process_time_ns(), age_of(t));
    return {static_cast<time_t>(taken / k_second), static_cast<long>(taken % k_second)};
}

void limit_to(std::uint64_t most_ns, timeval& time) noexcept {
    constexpr std::uint64_t k_ns = 1000;
    timeval const most{static_cast<time_t>(most_ns / k_second),
                       static_cast<suseconds_t>(most_ns % k_second / k_ns)};
    auto const in_order = [](timeval const& t) { return std::pair(t.tv_sec, t.tv_usec); };
    time = std::min(time, most, [&](auto& a, auto& b) { return in_order(a) < in_order(b); });
}

} // namespace

} // namespace tulle::posix

using namespace tulle::posix;

// Whoever asks for it may be another thread.
TULLE_INTERPOSE int pthread_getcpuclockid(pthread_t id, clockid_t* clock) noexcept {
    thread* const t = thread_of(id);
    if (t == nullptr) return TULLE_LIBC(pthread_getcpuclockid)(id, clock);
    if (has_ended(*t)) return ESRCH;
    *clock = CLOCK_PROCESS_CPUTIME_ID;
    return 0;
}

TULLE_INTERPOSE int clock_gettime(clockid_t clock, timespec* time) noexcept {
    thread const* const t = clock == CLOCK_THREAD_CPUTIME_ID ? self() : nullptr;
    if (t == nullptr) return TULLE_LIBC(clock_gettime)(clock, time);
    *time = processor_time_of(*t);
    return 0;
}

TULLE_INTERPOSE int getrusage(__rusage_who_t whose, rusage* usage) noexcept {
    thread const* const t = whose == RUSAGE_THREAD ? self() : nullptr;
    int const result = TULLE_LIBC(getrusage)(t != nullptr ? RUSAGE_SELF : whose, usage);
    if (t == nullptr || result != 0) return result;
    std::uint64_t const age = age_of(*t);
    limit_to(age, usage->ru_utime);
    limit_to(age, usage->ru_stime);
    return 0;
}
