// SPDX-License-Identifier: Apache-2.0
// One thread that waits, as a node in its own frame. `outcome` says who ended the wait:
//   waiting --waker--> woken        waiting --timer--> timed_out        woken --holder of a mutex--> granted
// Without a time-out only the waker writes it. With one, waker and timer compare-and-swap it, and the winner resumes the thread.
// Who touches what: the list's fields under the lock of the primitive; after take_all() the taker alone, until it resumes the thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace tulle::sync {

enum class outcome : std::uint32_t { waiting, woken, granted, timed_out };

// Parking is the environment: who the caller is, suspend, resume, timers, clock (parking.hpp). Model tests bring their own.
template <class Parking> struct waiter {
    using machine = typename Parking::machine;
    template <class T> using atomic = typename machine::template atomic<T>;

    waiter* next = nullptr;
    waiter* prev = nullptr;
    typename Parking::handle thread = Parking::self();
    atomic<outcome> state{outcome::waiting};
    std::uint32_t epoch = 0; // of the list when it was linked
    bool linked = false;
    bool timed = false;
    std::uint16_t tries = 0; // mutex: woken so often, and others were faster
    std::uint64_t since = 0; // mutex: when it queued, ns

    // By the waker, in any case before it resumes the thread. False: the timer came first. After true the caller must resume it.
    // relaxed, here and in try_time_out: the outcome decides who resumes; what must be visible comes with resume and with the locks.
    [[nodiscard]] bool try_wake() noexcept {
        if (!timed) {
            state.store(outcome::woken, std::memory_order_relaxed);
            return true;
        }
        outcome expected = outcome::waiting;
        return state.compare_exchange_strong(expected, outcome::woken, std::memory_order_relaxed, std::memory_order_relaxed);
    }
    // By the timer. As above.
    [[nodiscard]] bool try_time_out() noexcept {
        outcome expected = outcome::waiting;
        return state.compare_exchange_strong(expected, outcome::timed_out, std::memory_order_relaxed, std::memory_order_relaxed);
    }
    // acquire pairs with the release in wait_batch::wake_all.
    [[nodiscard]] outcome load_state() const noexcept { return state.load(std::memory_order_acquire); }
};

// With a place in the timer queue. Node: a waiter, or what a primitive has made of one.
template <class Parking, class Node = waiter<Parking>> struct timed_waiter : Node, Parking::timer {
    explicit timed_waiter(std::uint64_t deadline_ns) noexcept {
        this->timed = true;
        this->deadline = deadline_ns;
        this->fire = &time_out;
    }

    static void time_out(typename Parking::timer& t) noexcept {
        auto& self = static_cast<timed_waiter&>(t);
        auto const thread = self.thread;
        if (self.try_time_out()) Parking::resume(thread);
    }
};

} // namespace tulle::sync
