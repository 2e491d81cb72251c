// SPDX-License-Identifier: Apache-2.0
// One thread that waits, as a node in its own frame. `outcome` says who ended the wait:
//   waiting --waker--> woken   waiting --timer--> timed_out   waiting --canceller--> cancelled
//                              woken --holder of a mutex--> granted
// Without a limit only the waker writes it. With one, waker, timer and canceller compare-and-swap
// it, and the winner resumes the thread.
// Who touches what: the list's fields under the lock of the primitive; after take_all() the taker
// alone, until it resumes the thread.
#pragma once

#include "wait/limit_timer.hpp"

#include <atomic>
#include <cstdint>

namespace tulle::wait {

// Parking is the environment: who the caller is, suspend, resume, timers, clock
// (sched/parking.hpp). Model tests bring their own.
template <class Parking> struct waiter {
    using machine = typename Parking::machine;
    template <class T> using atomic = typename machine::template atomic<T>;
    template <class T> using plain = typename machine::template plain<T>;

    plain<waiter*> next{nullptr};
    plain<waiter*> prev{nullptr};
    typename Parking::handle thread = Parking::self();
    atomic<outcome> state{outcome::waiting};
    std::uint32_t epoch = 0; // of the list when it was linked
    bool linked = false;
    bool timed = false;
    std::uint16_t tries = 0; // mutex: woken so often, and others were faster
    std::uint64_t since = 0; // mutex: when it queued, ns

    // The waker calls this, in any case before it resumes the thread. False: the limit came first.
    // After true the caller must resume the thread. relaxed, here and in try_end: the outcome
    // decides who resumes; what must be visible comes with resume and with the locks.
    [[nodiscard]] bool try_wake() noexcept {
        if (!timed) {
            state.store(outcome::woken, std::memory_order_relaxed);
            return true;
        }
        outcome expected = outcome::waiting;
        return state.compare_exchange_strong(expected, outcome::woken, std::memory_order_relaxed,
                                             std::memory_order_relaxed);
    }
    // The timer or the canceller calls this. False: the waker or another end came first. After true
    // the caller must resume the thread.
    [[nodiscard]] bool try_end(outcome why) noexcept {
        outcome expected = outcome::waiting;
        return state.compare_exchange_strong(expected, why, std::memory_order_relaxed,
                                             std::memory_order_relaxed);
    }
    // acquire pairs with the release in wait_batch::wake_all.
    [[nodiscard]] outcome load_state() const noexcept {
        return state.load(std::memory_order_acquire);
    }
    // The limit has ended the wait.
    [[nodiscard]] bool has_ended() const noexcept { return load_state() >= outcome::timed_out; }
};

// A waiter with a limit: a deadline, a token, or both. Node: a waiter, or what a primitive has made
// of one.
template <class Parking, class Node = waiter<Parking>>
struct timed_waiter : Node, limit_timer<Parking> {
    explicit timed_waiter(limit<Parking> l) noexcept : limit_timer<Parking>(l, &end_wait) {
        this->timed = true;
    }

    static void end_wait(limit_timer<Parking>& t, outcome why) noexcept {
        auto& self = static_cast<timed_waiter&>(t);
        auto const thread = self.thread;
        if (self.try_end(why)) Parking::resume(thread);
    }
};

} // namespace tulle::wait
