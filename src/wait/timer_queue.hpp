// SPDX-License-Identifier: Apache-2.0
// Deadlines of timed waits: some timing wheels, each with a lock, so that workers do not meet where
// they insert. Any thread inserts and removes; workers that search for work expire what is due, and
// the one that sleeps does so until the next deadline.
#pragma once

#include "base/cache_line.hpp"
#include "base/spin_lock.hpp"
#include "wait/timer_wheel.hpp"

#include <tulle/detail/machine.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::wait {

class timer_queue {
public:
    // Inserts into the wheel of `inserter`, any number, which is the same for one worker each time.
    // True: the deadline is the first of all, so that a sleeper must be told of an earlier
    // deadline.
    [[nodiscard]] bool insert(timer& t, unsigned inserter) noexcept;
    // No effect on a timer that has fired. When it returns, fire() is over or will never be called.
    void remove(timer& t) noexcept;
    // Fires what is due at `now`, in up to `steps` for each wheel (timer_wheel::expire), and holds
    // no lock for long; returns how many. What is left is due at once. It waits for nobody: it
    // passes over a wheel that somebody else works on, who may be moving timers one by one.
    std::size_t expire(std::uint64_t now, std::uint32_t steps = k_many_steps) noexcept;
    // When expire() has to do something; k_never: there is no timer. A hint; a sleeper reads it
    // again after its heavy fence.
    [[nodiscard]] std::uint64_t next_deadline() const noexcept { return m_next.first(); }

    // Somebody works on each wheel that has something due at `now`. A hint; relaxed.
    [[nodiscard]] bool is_being_expired(std::uint64_t now) const noexcept;

    // Called when a run begins, at `now` (timer_wheel::start_at).
    void start_at(std::uint64_t now, timer_order order) noexcept;

    // Called around a fork of the process; the child has no waiters, but timers of its own may have
    // been in the queue.
    void lock_for_process_fork() noexcept;
    void unlock_after_process_fork() noexcept;
    void clear() noexcept;

private:
    static constexpr unsigned k_wheels = 8;
    static constexpr std::uint32_t k_many_steps = 256;

    struct alignas(base::k_cache_line) locked_wheel {
        base::spin_lock lock;
        timer_wheel wheel;
    };

    std::size_t expire(unsigned k, std::uint64_t now, std::uint32_t steps) noexcept;
    void publish_next(unsigned k) noexcept;

    alignas(base::k_cache_line) first_deadlines<detail::native_machine, k_wheels> m_next;
    std::atomic<std::uint64_t> m_seen{0}; // the time, by all wheels
    std::array<locked_wheel, k_wheels> m_wheels;
};

} // namespace tulle::wait
