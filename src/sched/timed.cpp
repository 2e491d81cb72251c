// SPDX-License-Identifier: Apache-2.0
#include "sched/timed.hpp"

#include "os/futex.hpp"
#include "sched/scheduler.hpp"

namespace tulle::sched {

namespace {

struct sleep_timer : timer {
    fiber* waiter = nullptr;
};

void fire_sleep(timer& t) noexcept { resume(*static_cast<sleep_timer&>(t).waiter); }

void post_sleep(void* pending, void*) noexcept { scheduler::instance().insert_timer(*static_cast<sleep_timer*>(pending)); }

void sleep_as_guest(std::uint64_t deadline) noexcept {
    std::atomic<std::uint32_t> never{0};
    while (os::futex_wait(never, 0, deadline) != os::wait_result::timed_out) {}
}

} // namespace

void sleep_until_ns(std::uint64_t deadline) noexcept {
    worker* const w = this_worker();
    if (w == nullptr || w->is_guest()) return sleep_as_guest(deadline);
    if (now_ns() >= deadline) return yield();
    sleep_timer t;
    t.fire = &fire_sleep;
    t.deadline = deadline;
    t.waiter = w->current;
    do {
        t.waiter->set_wait({wait_kind::sleep, nullptr});
        suspend(&post_sleep, &t, nullptr);
    } while (now_ns() < deadline);
}

} // namespace tulle::sched
