// SPDX-License-Identifier: Apache-2.0
// Deadlines of timed waits as a hierarchical timing wheel (Varghese and Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987; the levels
// as in the timer wheel of tokio). Insert and remove take a constant time, and nobody needs memory: timers are linked through themselves,
// and live in the frames of their waiters. No lock of its own.
//
// A deadline is a number with 11 digits of 6 bits. The wheel has a base, which no timer is before. A timer lies on the level of the highest
// digit in which its deadline and the base differ, in the slot of its deadline's digit; so
//   - the first timer is in the first used slot of the lowest used level;
//   - as long as the base has not come to a timer's slot, the timer's place is right, whatever the base is.
// When the base comes to a slot its timers go to lower levels, step by step: expire() does a bounded number of steps.
#pragma once

#include "wait/first_deadlines.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tulle::wait {

struct timer {
    std::uint64_t deadline = k_never;        // ns, monotonic
    void (*fire)(timer&) noexcept = nullptr; // under the queue's lock: short, and never inserts or removes
    // In a slot, as a ring.
    timer* next = nullptr;
    timer* previous = nullptr;
    std::uint16_t slot = 0;
    std::uint8_t queue = 0; // which one of a timer_queue
    bool queued = false;
};

class timer_wheel {
public:
    void insert(timer& t) noexcept;
    // Of one that is queued here.
    void remove(timer& t) noexcept;
    // Fires what is due at `now`, the earlier first; of timers within 262 us, which are all due, in any order. Each step fires or moves one
    // timer. How many have fired; if it has stopped for want of steps, next_deadline() is not after `now`.
    std::size_t expire(std::uint64_t now, std::uint32_t steps) noexcept;
    // When to call expire(): the first deadline, or earlier where there are many close to it. k_never: there is no timer.
    [[nodiscard]] std::uint64_t next_deadline() const noexcept { return m_next; }
    // Forgets all timers.
    void clear() noexcept;

private:
    static constexpr unsigned k_bits = 6;
    static constexpr unsigned k_slots = 1U << k_bits;
    static constexpr unsigned k_levels = 11;     // 66 bits
    static constexpr unsigned k_fired_whole = 3; // a slot up to this level, of 2^18 ns, that is over is fired without a look at each deadline
    static constexpr unsigned k_most_looked_at = 4;
    static constexpr std::uint16_t k_none = k_levels * k_slots;

    [[nodiscard]] bool open(std::uint64_t now) noexcept;
    [[nodiscard]] std::uint16_t slot_of(std::uint64_t deadline) const noexcept;
    [[nodiscard]] std::uint16_t first_slot() const noexcept;
    [[nodiscard]] std::uint64_t start_of(std::uint16_t slot) const noexcept;
    [[nodiscard]] std::uint64_t compute_next() const noexcept;
    void put(timer& t) noexcept;
    void take_out(timer& t) noexcept;

    std::uint64_t m_base = 0;
    std::uint64_t m_next = k_never;
    std::uint16_t m_opened = k_none; // the slot that the base has come to, as long as it has timers
    bool m_is_over = false;          // all that is in it is due
    std::array<std::uint64_t, k_levels> m_used{}; // a bit for each slot that has timers
    std::array<timer*, k_levels * k_slots> m_first{};
};

} // namespace tulle::wait
