// SPDX-License-Identifier: Apache-2.0
// Sleeps, and sched_yield.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/files/readable.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "os/clock.hpp"
#include "sched/switch.hpp"
#include "wait/limit_wait.hpp"

#include <algorithm>

namespace {

using namespace tulle::posix;

// False: a handler of a signal has run, which ends each sleep.
bool sleep_until(thread& t, std::uint64_t deadline) {
    test_cancel(&t);
    for (;;) {
        tulle::wait::outcome how{};
        {
            kept_errno const kept;
            how = tulle::wait::wait_for_limit<parking>({tulle::wait::wait_kind::sleep, nullptr},
                                                       interruptible(&t, deadline));
        }
        if (how != tulle::wait::outcome::cancelled) return true;
        if (attend(t) != interruption::none) return false;
    }
}

int sleep_for(thread& t, timespec const* time, timespec* rest) {
    if (time->tv_sec < 0 || !is_time(*time)) return EINVAL;
    std::uint64_t const deadline = deadline_after(*time);
    if (sleep_until(t, deadline)) return 0;
    if (rest != nullptr) *rest = left_until(deadline);
    return EINTR;
}

// No timer here knows of clocks that stand still meanwhile, or go on while the machine sleeps:
// the thread looks now and then.
bool is_looked_at(clockid_t clock) noexcept {
    return clock == CLOCK_BOOTTIME || clock == CLOCK_TAI || clock == CLOCK_PROCESS_CPUTIME_ID;
}

int sleep_by_looking(thread& t, clockid_t clock, timespec until, timespec* rest) {
    constexpr std::uint64_t k_between_ns = 100'000'000;
    for (;;) {
        std::uint64_t const deadline = deadline_at(clock, until); // 0: it is over
        if (deadline == 0) return test_cancel(&t), 0;
        if (sleep_until(t, std::min(deadline, tulle::os::monotonic_ns() + k_between_ns))) continue;
        if (rest != nullptr) *rest = left_until(deadline);
        return EINTR;
    }
}

timespec after(timespec const& now, timespec const& time) noexcept {
    constexpr long k_second = 1'000'000'000;
    constexpr time_t k_most = 4'000'000'000; // centuries
    long const ns = now.tv_nsec + time.tv_nsec;
    return {now.tv_sec + std::min(time.tv_sec, k_most) + ns / k_second, ns % k_second};
}

int sleep_on_other_clock(thread& t, clockid_t clock, int flags, timespec const& time,
                         timespec* rest) {
    if (time.tv_sec < 0 || !is_time(time)) return EINVAL;
    if ((flags & TIMER_ABSTIME) != 0) return sleep_by_looking(t, clock, time, nullptr);
    timespec now{};
    clock_gettime(clock, &now);
    return sleep_by_looking(t, clock, after(now, time), rest);
}

} // namespace

TULLE_INTERPOSE int nanosleep(timespec const* time, timespec* rest) {
    thread* const t = self();
    if (t == nullptr || !is_readable(time, sizeof *time))
        return test_cancel(t), TULLE_LIBC(nanosleep)(time, rest);
    int const error = sleep_for(*t, time, rest);
    return error == 0 ? 0 : fail(error);
}

TULLE_INTERPOSE int clock_nanosleep(clockid_t clock, int flags, timespec const* time,
                                    timespec* rest) {
    thread* const t = self();
    bool const is_known = is_clock(clock) || is_looked_at(clock);
    if (t == nullptr || !is_known || !is_readable(time, sizeof *time))
        return test_cancel(t), TULLE_LIBC(clock_nanosleep)(clock, flags, time, rest);
    if (is_looked_at(clock)) return sleep_on_other_clock(*t, clock, flags, *time, rest);
    if ((flags & TIMER_ABSTIME) == 0) return sleep_for(*t, time, rest);
    if (time->tv_sec < 0 || !is_time(*time)) return EINVAL;
    return sleep_until(*t, deadline_at(clock, *time)) ? 0 : EINTR;
}

TULLE_INTERPOSE int usleep(useconds_t us) {
    thread* const t = self();
    if (t == nullptr) return TULLE_LIBC(usleep)(us);
    timespec const time{static_cast<time_t>(us / 1'000'000),
                        static_cast<long>(us % 1'000'000) * 1000};
    return sleep_until(*t, deadline_after(time)) ? 0 : fail(EINTR);
}

TULLE_INTERPOSE unsigned sleep(unsigned seconds) {
    thread* const t = self();
    if (t == nullptr) return TULLE_LIBC(sleep)(seconds);
    std::uint64_t const deadline = deadline_after({static_cast<time_t>(seconds), 0});
    return sleep_until(*t, deadline) ? 0 : static_cast<unsigned>(left_until(deadline).tv_sec);
}

// A handler that the kernel has called may have interrupted a switch.
int tulle::posix::yield_to_others() noexcept {
    if (self() == nullptr || wakes_left::by_caller()) return TULLE_LIBC(sched_yield)();
    tulle::sched::yield();
    return 0;
}

// Whoever yields in a loop is seldom interrupted in code of the program, where a signal finds it.
int tulle::posix::yield_and_attend() {
    int const result = yield_to_others();
    thread* const t = self();
    if (t == nullptr || TULLE_LIKELY(!t->attention.is_requested()) || leaves_handlers())
        return result;
    kept_errno const kept;
    static_cast<void>(run_handlers(*t));
    if (ends_at_any_point(*t)) test_cancel(t);
    return result;
}

TULLE_INTERPOSE_WAIT(sched_yield, ()) { return yield_and_attend(); }
