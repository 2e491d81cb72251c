// SPDX-License-Identifier: Apache-2.0
// Deadlines of timed waits as a hierarchical timing wheel (Varghese and Lauck, "Hashed and
// Hierarchical Timing Wheels", SOSP 1987; the levels as in the timer wheel of tokio). Insert and
// remove take a constant time, and nobody needs memory: timers are linked through themselves, and
// live in the frames of their waiters. No lock of its own.
//
// The wheel has a base, which no timer is before. A deadline is a number with digits of 6 bits, and
// a timer lies in the slot of one of its digits:
//   levels 0 to 3   of the highest digit in which it differs from the base: what is due within the
//                   same 2^24 ns, 17 ms, as the base
//   level 4         of the fifth digit, and four bits more: the rest of this unit of 2^30 ns,
//                   1.07 s, and of the 15 next ones
//   levels 5 to 10  of the highest digit in which it differs from the last of these units
// so that the first timer is in the first used slot of the lowest used level, and a timer's slot is
// right until the base comes to it: then the slot is open, and its timers go to lower levels, one
// in each step. A timer that is moved comes from memory, as each lies somewhere else. So level 4
// has the deadlines of the next 17 s, and slots of levels from 5 on are open 15 units before their
// time: to move the million timers that may be in one takes some 100 ms.
#pragma once

#include "wait/first_deadlines.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tulle::wait {

struct timer {
    std::uint64_t deadline = k_never; // ns, monotonic
    // Called under the queue's lock. It is short, and never inserts or removes.
    void (*fire)(timer&) noexcept = nullptr;
    // The timers of a slot are linked as a ring.
    timer* next = nullptr;
    timer* previous = nullptr;
    std::uint16_t slot = 0;
    std::uint8_t queue = 0; // which one of a timer_queue
    bool queued = false;
};

// Of timers with the same deadline: where the time is virtual, many have the same, and the order
// must not depend on which slots they come through.
enum class timer_order : bool { any, of_insertion };

class timer_wheel {
public:
    void insert(timer& t) noexcept;
    // Takes out a timer that is queued here.
    void remove(timer& t) noexcept;
    // Fires what is due at `now`, the earlier first; of timers within 262 us, which are all due, in
    // any order. Each step fires or moves one or two timers. How many have fired; if it has stopped
    // for want of steps, next_deadline() is not after `now`.
    std::size_t expire(std::uint64_t now, std::uint32_t steps) noexcept;
    // When to call expire(): at the first deadline, or earlier where many are close to each other.
    // k_never: there is no timer.
    [[nodiscard]] std::uint64_t next_deadline() const noexcept { return m_next; }
    // The time is `now`, which may be earlier than what expire() was told: a run of virtual time is
    // over. Takes a step for each timer.
    void start_at(std::uint64_t now, timer_order order) noexcept;
    // Forgets all timers.
    void clear() noexcept;

private:
    static constexpr unsigned k_bits = 6;
    static constexpr unsigned k_slots = 1U << k_bits;
    static constexpr unsigned k_wide = 4; // the level of many rounds of slots, one for each unit
    static constexpr unsigned k_units = 16;
    static constexpr unsigned k_wide_bits = k_wide * k_bits;
    static constexpr unsigned k_unit_bits = k_wide_bits + k_bits;
    // Rounds of slots, on all levels: one each of levels 0 to 3, k_units of level 4, one each of 5
    // to 10.
    static constexpr unsigned k_first_far = k_wide + k_units;
    static constexpr unsigned k_far_levels = 6;
    static constexpr unsigned k_rounds = k_first_far + k_far_levels;
    static constexpr unsigned k_fired_whole =
        // A slot up to this level, of 2^18 ns, that is over is fired without a check of each
        // deadline.
        3;
    static constexpr unsigned k_most_visited = 4;
    static constexpr std::uint16_t k_none = k_rounds * k_slots;

    [[nodiscard]] bool step(std::uint64_t now, std::size_t& fired) noexcept;
    void come_to_next(std::uint64_t now) noexcept;
    // Of level 4.
    [[nodiscard]] std::uint64_t last_unit() const noexcept {
        return (m_base >> k_unit_bits) + k_units - 1;
    }
    [[nodiscard]] std::uint16_t slot_of(std::uint64_t deadline) const noexcept;
    [[nodiscard]] std::uint16_t first_near() const noexcept;
    [[nodiscard]] std::uint16_t first_far() const noexcept;
    [[nodiscard]] std::uint16_t first_of_round(unsigned round) const noexcept;
    [[nodiscard]] std::uint64_t start_of(std::uint16_t slot) const noexcept;
    [[nodiscard]] std::uint64_t opens_at(std::uint16_t slot) const noexcept;
    [[nodiscard]] std::uint64_t look_at(std::uint16_t slot) const noexcept;
    [[nodiscard]] std::uint64_t compute_next() const noexcept;
    [[nodiscard]] timer& take_one_of(std::uint16_t slot) noexcept;
    void put(timer& t) noexcept;
    void take_out(timer& t) noexcept;

    std::uint64_t m_base = 0;
    std::uint64_t m_next = k_never;
    // The slots that are open, as long as they have timers: of levels 0 to 4, which the base has
    // come to; and of the other levels.
    std::uint16_t m_near = k_none;
    std::uint16_t m_far = k_none;
    bool m_is_over = false;        // all that is in m_near is due
    bool m_takes_both_ends = true; // take_one_of
    bool m_takes_last = false;
    std::uint32_t m_used_rounds = 0;              // a bit for each round that has timers
    std::array<std::uint64_t, k_rounds> m_used{}; // a bit for each slot that has timers
    std::array<timer*, k_none> m_first{};
};

} // namespace tulle::wait
