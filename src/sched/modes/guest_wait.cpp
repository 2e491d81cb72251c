// SPDX-License-Identifier: Apache-2.0
#include "sched/modes/guest_wait.hpp"

#include "sched/cancellation.hpp"
#include "sched/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace tulle::sched {

namespace {

// Tells the standstill_finder that this guest wakes nobody before it is resumed.
struct wait_mark {
    wait_mark(worker_remote& guest, bool forever) noexcept : w(guest) {
        // relaxed: one writer.
        w.waits_begun.store(w.waits_begun.load(std::memory_order_relaxed) + 1,
                            std::memory_order_relaxed);
        // pairs with all_guests_wait: waits_at and its reason.
        w.waits_forever.store(forever, std::memory_order_release);
    }
    // relaxed: waits_begun tells as well.
    ~wait_mark() { w.waits_forever.store(false, std::memory_order_relaxed); }
    wait_mark(wait_mark const&) = delete;
    wait_mark& operator=(wait_mark const&) = delete;

    worker_remote& w;
};

// Sleeps like resume_word::sleep; and when the first deadline of its token passes, cancels that
// itself.
bool sleep_beside_token(worker& w, fiber& self, std::uint64_t until) noexcept {
    detail::cancellation* const token = w.own_token;
    if (token == nullptr) return self.wake.sleep(until);
    self.wake.begin_reading();
    std::uint64_t const cancelled_at = token->first_deadline();
    if (self.wake.sleep_watching(std::min(until, cancelled_at))) return true;
    if (cancelled_at > until) return false;
    static_cast<void>(token->is_cancelled());
    return true;
}

void fire_once(timer*& own) noexcept {
    timer& fired = *std::exchange(own, nullptr);
    fired.fire(fired);
}

// Sleeps until it is resumed. When its time is up, or that of its token, it is resumed by itself:
// the workers may all be busy.
void sleep_as_guest(worker& w, fiber& self) noexcept {
    timer* own = w.own_timer; // null: it has fired, or there is none
    wait_mark const mark(w, own == nullptr);
    while (!self.wake.is_resumed()) {
        std::uint64_t const until =
            own == nullptr ? w.owner->standstills().next_check(w) : own->deadline;
        if (sleep_beside_token(w, self, until)) continue;
        if (own == nullptr)
            w.owner->standstills().check(w);
        else
            fire_once(own);
    }
    self.wake.reset();
}

} // namespace

void wait_as_guest(worker& w, fiber& self, post_function post, void* a, void* b) noexcept {
    scheduler& s = *w.owner;
    if (self.records != nullptr && s.shortage().is_on()) s.leave_records(self);
    w.own_timer = nullptr;
    w.own_token = nullptr;
    post(a, b); // may set the two
    if (w.own_token != nullptr) self.wake.watch();
    w.waits_at = arch::this_code_point();
    sleep_as_guest(w, self);
}

} // namespace tulle::sched
