// SPDX-License-Identifier: Apache-2.0
// A wait for nothing but its limit.
#pragma once

#include "wait/wait_list.hpp"

#include <cstdint>
#include <mutex>

namespace tulle::wait {

// Returns what has ended the wait: timed_out or cancelled.
template <class Parking> outcome wait_for_limit(wait_reason reason, limit<Parking> until) noexcept {
    typename Parking::lock guard;
    timed_waiter<Parking> self(until);
    park(
        reason, static_cast<waiter<Parking>&>(self), guard, [] { return true; }, &self);
    { std::lock_guard const started(guard); } // the starter of the limit has released it
    self.stop();
    return self.load_state();
}

// A waiter whose wait its timer alone ends: there is no outcome to decide, and nothing to take
// back.
template <class Parking> struct time_waiter : Parking::timer {
    typename Parking::handle thread = Parking::self();

    explicit time_waiter(std::uint64_t until) noexcept {
        this->deadline = until;
        this->fire = &on_time;
    }
    // The thread may go on, and its frame be gone, before this returns.
    static void on_time(typename Parking::timer& t) noexcept {
        Parking::resume(static_cast<time_waiter&>(t).thread);
    }
    static void post_insert(void* self, void*) noexcept {
        Parking::insert_timer(*static_cast<time_waiter*>(self));
    }
};

// Suspends the caller until the deadline, in ns of the clock of Parking.
template <class Parking> void wait_for_time(wait_reason reason, std::uint64_t deadline) noexcept {
    time_waiter<Parking> self(deadline);
    Parking::set_wait(self.thread, reason);
    Parking::suspend(&time_waiter<Parking>::post_insert, &self, nullptr);
}

} // namespace tulle::wait
