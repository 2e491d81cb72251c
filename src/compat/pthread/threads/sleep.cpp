// SPDX-License-Identifier: Apache-2.0
// Sleeps, and sched_yield.
#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "sched/switch.hpp"
#include "wait/limit_wait.hpp"

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

} // namespace

TULLE_INTERPOSE int nanosleep(timespec const* time, timespec* rest) {
    thread* const t = self();
    if (t == nullptr) return TULLE_LIBC(nanosleep)(time, rest);
    int const error = sleep_for(*t, time, rest);
    return error == 0 ? 0 : fail(error);
}

TULLE_INTERPOSE int clock_nanosleep(clockid_t clock, int flags, timespec const* time,
                                    timespec* rest) {
    thread* const t = self();
    if (t == nullptr || !is_clock(clock))
        return TULLE_LIBC(clock_nanosleep)(clock, flags, time, rest);
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

int tulle::posix::yield_to_others() noexcept {
    if (self() == nullptr) return TULLE_LIBC(sched_yield)();
    tulle::sched::yield();
    return 0;
}

TULLE_INTERPOSE int sched_yield() noexcept { return yield_to_others(); }
