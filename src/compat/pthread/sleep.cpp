// SPDX-License-Identifier: Apache-2.0
// Sleeps, and sched_yield.
#include "compat/pthread/libc.hpp"
#include "compat/pthread/thread.hpp"
#include "sched/switch.hpp"
#include "wait/limit_wait.hpp"

namespace {

using namespace tulle::posix;

void sleep_until(thread& t, std::uint64_t deadline) {
    test_cancel(&t);
    {
        kept_errno const kept;
        static_cast<void>(tulle::wait::wait_for_limit<parking>(
            {tulle::wait::wait_kind::sleep, nullptr}, cancellable(&t, deadline)));
    }
    test_cancel(&t);
}

// A signal handler does not end a sleep here, so nothing is left of it.
int sleep_for(thread& t, timespec const* time, timespec* rest) {
    if (time->tv_sec < 0 || !is_time(*time)) return EINVAL;
    sleep_until(t, deadline_after(*time));
    if (rest != nullptr) *rest = {0, 0};
    return 0;
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
    sleep_until(*t, deadline_at(clock, *time));
    return 0;
}

TULLE_INTERPOSE int usleep(useconds_t us) {
    thread* const t = self();
    if (t == nullptr) return TULLE_LIBC(usleep)(us);
    sleep_until(*t, deadline_after({static_cast<time_t>(us / 1'000'000),
                                    static_cast<long>(us % 1'000'000) * 1000}));
    return 0;
}

TULLE_INTERPOSE unsigned sleep(unsigned seconds) {
    thread* const t = self();
    if (t == nullptr) return TULLE_LIBC(sleep)(seconds);
    sleep_until(*t, deadline_after({static_cast<time_t>(seconds), 0}));
    return 0;
}

int tulle::posix::yield_to_others() noexcept {
    if (self() == nullptr) return TULLE_LIBC(sched_yield)();
    kept_errno const kept;
    tulle::sched::yield();
    return 0;
}

TULLE_INTERPOSE int sched_yield() noexcept { return yield_to_others(); }
