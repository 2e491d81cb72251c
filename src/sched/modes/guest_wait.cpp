// SPDX-License-Identifier: Apache-2.0
#include "sched/modes/guest_wait.hpp"

#include "os/clock.hpp"
#include "os/machine.hpp"
#include "sched/cancellation.hpp"
#include "sched/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

namespace tulle::sched {

namespace {

constinit std::atomic<bool> s_one_looks{false}; // is_resumed_soon

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

// To be woken takes longer than many waits do, as that for a thread that has just been made. One
// guest at a time looks on for as long as a worker searches, where others have a processor.
bool is_resumed_soon(scheduler const& s, fiber const& self) noexcept {
    // relaxed, both: a hint
    if (s.chosen().machine.allowed_cpus == 1 ||
        s_one_looks.exchange(true, std::memory_order_relaxed))
        return self.wake.is_resumed();
    constexpr int k_looks = 16; // for each at the clock
    bool is_resumed = false;
    std::uint64_t const end = os::monotonic_ns() + s.chosen().spin_ns;
    do {
        for (int k = 0; k != k_looks && !is_resumed; ++k) {
            is_resumed = self.wake.is_resumed();
            os::machine::pause();
        }
    } while (!is_resumed && os::monotonic_ns() < end);
    s_one_looks.store(false, std::memory_order_relaxed);
    return is_resumed;
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
    if (is_resumed_soon(s, self)) return self.wake.reset();
    sleep_as_guest(w, self);
}

} // namespace tulle::sched
