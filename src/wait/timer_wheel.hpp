// SPDX-License-Identifier: Apache-2.0
// Timers in the order of their deadlines: a hierarchical timing wheel, linked through its timers, which live in the frames of their waiters: no
// wait needs memory. No synchronisation of its own; timer_queue.hpp has that.
// Level k has 2^slot_bits slots, each 2^(step_bits k) ns wide. A timer is in the lowest level whose slots, counted from the cursor's, reach its
// deadline. When the time of a slot comes, its timers go to lower levels; a slot of level 0 is a nanosecond, so that deadlines are exact and
// timers leave in their order, those of equal deadline in that in which they came to the slot. Insert and remove take a constant time, and a
// timer moves at most once for each level.
// Source: Varghese and Lauck, Hashed and hierarchical timing wheels (SOSP 1987, doi:10.1145/41457.37504), scheme 7. Deviations: levels overlap, so
// that a timer skips most of them; wide slots are emptied ahead of their time, little by little, so that none comes late by it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tulle::wait {

inline constexpr std::uint64_t k_never = ~std::uint64_t{0};

// How large a wheel is; tests have smaller ones. It reaches 19 hours ahead; what is farther away comes by again and again.
struct timer_wheel_shape {
    static constexpr unsigned slot_bits = 10;
    static constexpr unsigned step_bits = 4;
    static constexpr unsigned levels = 10;
    static constexpr unsigned first_early_level = 5; // slots of 1 ms and more: emptied from a quarter of their width ahead
};

template <class Machine> struct basic_timer {
    template <class T> using plain = typename Machine::template plain<T>;
    static constexpr std::uint16_t k_nowhere = 0xFFFF;

    std::uint64_t deadline = k_never;              // ns, monotonic
    void (*fire)(basic_timer&) noexcept = nullptr; // never inserts or removes

    // The queue's.
    plain<basic_timer*> next{nullptr};
    plain<basic_timer*> previous{nullptr};
    plain<std::uint16_t> place{k_nowhere}; // number of its slot in the wheel, or of its entry in a batch
    std::uint8_t shard = 0;                // written by insert only
};

template <class Timer, class Shape = timer_wheel_shape> class timer_wheel {
    static_assert(Shape::slot_bits >= 2 * Shape::step_bits, "what is emptied goes down by two levels");

public:
    static constexpr unsigned k_slots = 1U << Shape::slot_bits;
    static constexpr unsigned k_places = Shape::levels * k_slots;

    timer_wheel() noexcept { m_start.fill(k_never); } // leaves the slots as they are: pages that are not used cost nothing
    timer_wheel(timer_wheel const&) = delete;
    timer_wheel& operator=(timer_wheel const&) = delete;

    [[nodiscard]] bool is_empty() const noexcept {
        return std::all_of(m_start.begin(), m_start.end(), [](std::uint64_t s) { return s == k_never; });
    }
    [[nodiscard]] std::uint64_t cursor() const noexcept { return m_cursor; }

    void insert(Timer& t) noexcept {
        std::uint64_t const when = std::max(t.deadline, m_cursor);
        unsigned const level = level_of(when);
        std::uint64_t const block =
            std::min(when >> shift(level), (m_cursor >> shift(level)) + (k_slots - 1)); // less: farther than the last level
        append(level, index_of(block), t);
        m_start[level] = std::min(m_start[level], start_of(level, block));
    }
    void remove(Timer& t) noexcept {
        unsigned const level = t.place.load() / k_slots;
        unsigned const index = t.place.load() % k_slots;
        unlink(m_slots[level][index], level, index, t);
        if (!is_occupied(level, index)) find_start(level);
    }

    // Towards `now`: calls due(timer) for those whose deadline has come, in their order, and moves others down; at most `steps` of both.
    template <class Due> void advance(std::uint64_t now, std::size_t steps, Due due) noexcept {
        for (; steps != 0; --steps) {
            unsigned const level = earliest_level();
            std::uint64_t const start = m_start[level];
            if (start > now || start == k_never) {
                m_cursor = std::max(m_cursor, now);
                return;
            }
            m_cursor = std::max(m_cursor, start);
            take_first(level, due);
        }
    }

    // Not later than the first deadline; exactly that unless many timers are in a wide slot, or it had passed when its timer came.
    [[nodiscard]] std::uint64_t next() const noexcept {
        std::uint64_t least = m_start[0];
        for (unsigned level = 1; level < Shape::levels; ++level) {
            if (m_start[level] < least) least = std::min(least, first_deadline_of(level));
        }
        return least;
    }

    // Calls drop(timer) for each and forgets them.
    template <class Drop> void clear(Drop drop) noexcept {
        for (unsigned level = 0; level < Shape::levels; ++level) {
            while (m_start[level] != k_never) take_first(level, drop, true);
        }
    }

private:
    static constexpr unsigned k_words = (k_slots + 63) / 64;
    static constexpr unsigned k_bits = k_slots < 64 ? k_slots : 64; // used of each word
    static constexpr int k_most_compared = 16;

    struct slot {
        Timer* first;
        Timer* last;
    };

    static constexpr unsigned shift(unsigned level) noexcept { return Shape::step_bits * level; }
    static constexpr unsigned index_of(std::uint64_t block) noexcept { return static_cast<unsigned>(block % k_slots); }
    // How far ahead of its time a slot is emptied.
    static constexpr std::uint64_t lead(unsigned level) noexcept {
        return level < Shape::first_early_level ? 0 : std::uint64_t{1} << (shift(level) - 2);
    }
    // When a slot is to be emptied.
    static constexpr std::uint64_t start_of(unsigned level, std::uint64_t block) noexcept { return (block << shift(level)) - lead(level); }

    // Those of higher levels are at least 2^(slot_bits - step_bits) slots ahead of the cursor's, so that no timer comes to a slot while it is emptied.
    [[nodiscard]] unsigned level_of(std::uint64_t when) const noexcept {
        auto const bits = static_cast<unsigned>(std::bit_width(when - m_cursor));
        unsigned level = bits <= Shape::slot_bits ? 0 : (bits - Shape::slot_bits + Shape::step_bits - 1) / Shape::step_bits;
        if (level >= Shape::levels) return Shape::levels - 1;
        bool const is_beyond = (when >> shift(level)) - (m_cursor >> shift(level)) >= k_slots;
        return is_beyond ? std::min(level + 1, Shape::levels - 1) : level;
    }
    // Of those with the earliest slot the highest, so that its timers come before the lower ones leave.
    [[nodiscard]] unsigned earliest_level() const noexcept {
        unsigned best = Shape::levels - 1;
        for (unsigned level = best; level-- > 0;) {
            if (m_start[level] < m_start[best]) best = level;
        }
        return best;
    }

    [[nodiscard]] bool is_occupied(unsigned level, unsigned index) const noexcept {
        return ((m_occupied[level][index / k_bits] >> (index % k_bits)) & 1U) != 0;
    }
    void append(unsigned level, unsigned index, Timer& t) noexcept {
        slot& s = m_slots[level][index];
        bool const was_occupied = is_occupied(level, index);
        t.place.store(static_cast<std::uint16_t>(level * k_slots + index));
        t.next.store(nullptr);
        t.previous.store(was_occupied ? s.last : nullptr);
        if (was_occupied)
            s.last->next.store(&t);
        else
            s.first = &t;
        s.last = &t;
        m_occupied[level][index / k_bits] |= std::uint64_t{1} << (index % k_bits);
    }
    void unlink(slot& s, unsigned level, unsigned index, Timer& t) noexcept {
        Timer* const next = t.next.load();
        Timer* const previous = t.previous.load();
        (next != nullptr ? next->previous.store(previous) : static_cast<void>(s.last = previous));
        (previous != nullptr ? previous->next.store(next) : static_cast<void>(s.first = next));
        t.place.store(Timer::k_nowhere);
        if (next == nullptr && previous == nullptr) m_occupied[level][index / k_bits] &= ~(std::uint64_t{1} << (index % k_bits));
    }

    // Takes the first timer out of the first slot of the level: it leaves, or goes down.
    template <class Leave> void take_first(unsigned level, Leave leave, bool all_leave = false) noexcept {
        unsigned const index = first_index(level);
        slot& s = m_slots[level][index];
        Timer& t = *s.first;
        if (Timer* const next = t.next.load()) __builtin_prefetch(next);
        unlink(s, level, index, t);
        if (!is_occupied(level, index)) find_start(level);
        if (level == 0 || all_leave)
            leave(t);
        else
            insert(t);
    }
    [[nodiscard]] unsigned first_index(unsigned level) const noexcept { return index_of((m_start[level] + lead(level)) >> shift(level)); }

    // The first occupied slot of the level from the cursor's on.
    void find_start(unsigned level) noexcept {
        std::uint64_t const block = m_cursor >> shift(level);
        unsigned const from = index_of(block);
        auto const& words = m_occupied[level];
        std::uint64_t word = words[from / k_bits] & (~std::uint64_t{0} << (from % k_bits));
        for (unsigned k = 0; k <= k_words; ++k, word = words[(from / k_bits + k) % k_words]) {
            if (word == 0) continue;
            unsigned const index = ((from / k_bits + k) % k_words) * k_bits + static_cast<unsigned>(std::countr_zero(word));
            m_start[level] = start_of(level, block + (index - from) % k_slots);
            return;
        }
        m_start[level] = k_never;
    }
    [[nodiscard]] std::uint64_t first_deadline_of(unsigned level) const noexcept {
        std::uint64_t least = k_never;
        int compared = 0;
        for (Timer* t = m_slots[level][first_index(level)].first; t != nullptr; t = t->next.load()) {
            if (++compared > k_most_compared) return m_start[level];
            least = std::min(least, t->deadline);
        }
        return least;
    }

    std::uint64_t m_cursor = 0;                       // all slots before it are empty
    std::array<std::uint64_t, Shape::levels> m_start; // when the first occupied slot of each level is to be emptied
    std::array<std::array<std::uint64_t, k_words>, Shape::levels> m_occupied{}; // a bit for each slot
    slot m_slots[Shape::levels][k_slots];                                       // meaningful where occupied
};

} // namespace tulle::wait
