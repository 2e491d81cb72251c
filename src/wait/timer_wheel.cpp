// SPDX-License-Identifier: Apache-2.0
#include "wait/timer_wheel.hpp"

#include <algorithm>
#include <bit>

namespace tulle::wait {

namespace {

constexpr std::uint64_t k_one = 1;

unsigned highest_bit(std::uint64_t bits) noexcept {
    return static_cast<unsigned>(std::bit_width(bits)) - 1;
}
unsigned lowest_bit(std::uint64_t bits) noexcept {
    return static_cast<unsigned>(std::countr_zero(bits));
}

} // namespace

void timer_wheel::insert(timer& t) noexcept {
    t.queued = true;
    put(t);
    m_next = std::min(m_next, look_at(t.slot));
}

void timer_wheel::remove(timer& t) noexcept {
    bool const was_alone = t.next == &t;
    take_out(t);
    t.queued = false;
    if (was_alone || t.deadline <= m_next) m_next = compute_next();
}

std::size_t timer_wheel::expire(std::uint64_t now, std::uint32_t steps) noexcept {
    std::size_t fired = 0;
    while (steps != 0 && step(now, fired)) --steps;
    if (steps != 0) m_base = std::max(m_base, now); // nothing is open, and no slot begins before
    m_next = compute_next();
    return fired;
}

void timer_wheel::start_at(std::uint64_t now, timer_order order) noexcept {
    timer* taken = nullptr;
    while (m_used_rounds != 0) {
        timer& t = *m_first[first_of_round(lowest_bit(m_used_rounds))];
        take_out(t);
        t.next = taken;
        taken = &t;
    }
    m_takes_both_ends = order == timer_order::any;
    m_base = now;
    while (taken != nullptr) {
        timer& t = *taken;
        taken = t.next;
        put(t);
    }
    m_next = compute_next();
}

void timer_wheel::clear() noexcept {
    for (unsigned round = 0; round < k_rounds; ++round) {
        for (; m_used[round] != 0; m_used[round] &= m_used[round] - 1) {
            timer*& first = m_first[first_of_round(round)];
            for (timer* t = first; t->queued; t = t->next) t->queued = false;
            first = nullptr;
        }
    }
    m_used_rounds = 0;
    m_near = m_far = k_none;
    m_next = k_never;
}

// False: there is nothing to do. Both kinds of open slots go on, whatever the other one has.
bool timer_wheel::step(std::uint64_t now, std::size_t& fired) noexcept {
    if (m_near == k_none) come_to_next(now);
    if (m_near == k_none && m_far == k_none) return false;
    if (m_far != k_none) put(take_one_of(m_far));
    if (m_near != k_none) {
        timer& t = take_one_of(m_near);
        if (!m_is_over) {
            put(t);
            return true;
        }
        t.queued = false;
        t.fire(t);
        ++fired;
    }
    return true;
}

// Opens what begins first, if that is by `now`. The base stays in its unit until the far slot that
// is open has no timers, which belong to the next unit.
void timer_wheel::come_to_next(std::uint64_t now) noexcept {
    std::uint16_t const near = first_near();
    std::uint64_t const start = near == k_none ? k_never : start_of(near);
    std::uint16_t const far = m_far == k_none ? first_far() : k_none;
    std::uint64_t const far_at = far == k_none ? k_never : opens_at(far);
    if (far_at < start) {
        if (far_at > now) return;
        m_base = far_at;
        m_far = far;
        return;
    }
    if (start > now || near == k_none) return;
    if (m_far != k_none && start >> k_unit_bits != m_base >> k_unit_bits) return;
    if (far_at == start) m_far = far;
    unsigned const level = near / k_slots;
    m_base = start;
    m_near = near;
    m_is_over = level <= k_fired_whole && now - start >= (k_one << (level * k_bits)) - 1;
}

// One that the base has passed is due, and belongs to the base.
std::uint16_t timer_wheel::slot_of(std::uint64_t deadline) const noexcept {
    deadline = std::max(deadline, m_base);
    std::uint64_t const unit = deadline >> k_unit_bits;
    unsigned round = 0;
    unsigned level = 0;
    if (unit > last_unit()) {
        level = k_wide + 1 + highest_bit(unit ^ last_unit()) / k_bits;
        round = k_first_far + level - (k_wide + 1);
    } else if (deadline >> k_wide_bits != m_base >> k_wide_bits) {
        level = k_wide;
        round = k_wide + static_cast<unsigned>(unit % k_units);
    } else {
        level = round = highest_bit((deadline ^ m_base) | 1) / k_bits;
    }
    return static_cast<std::uint16_t>(round * k_slots + (deadline >> (level * k_bits)) % k_slots);
}

std::uint16_t timer_wheel::first_of_round(unsigned round) const noexcept {
    return static_cast<std::uint16_t>(round * k_slots + lowest_bit(m_used[round]));
}

std::uint16_t timer_wheel::first_near() const noexcept {
    constexpr std::uint32_t k_below_wide = (1U << k_wide) - 1;
    if ((m_used_rounds & k_below_wide) != 0) return first_of_round(lowest_bit(m_used_rounds));
    auto const wide = static_cast<std::uint16_t>(m_used_rounds >> k_wide);
    static_assert(k_units == 16);
    if (wide == 0) return k_none;
    auto const this_unit = static_cast<unsigned>(m_base >> k_unit_bits) % k_units;
    unsigned const first = lowest_bit(std::rotr(wide, static_cast<int>(this_unit)));
    return first_of_round(k_wide + (this_unit + first) % k_units);
}

std::uint16_t timer_wheel::first_far() const noexcept {
    std::uint32_t const far = m_used_rounds >> k_first_far;
    return far == 0 ? k_none : first_of_round(k_first_far + lowest_bit(far));
}

// When the time of a slot begins that is not open. The digits above the slot's own are those that
// the level is counted from, those below are 0.
std::uint64_t timer_wheel::start_of(std::uint16_t slot) const noexcept {
    unsigned const round = slot / k_slots;
    std::uint64_t from = m_base;
    unsigned level = round;
    if (round >= k_first_far) {
        from = last_unit() << k_unit_bits;
        level = k_wide + 1 + (round - k_first_far);
    } else if (round >= k_wide) {
        std::uint64_t const ahead = (round - k_wide - (m_base >> k_unit_bits)) % k_units;
        from = m_base + (ahead << k_unit_bits);
        level = k_wide;
    }
    unsigned const shift = level * k_bits;
    std::uint64_t const above =
        shift + k_bits >= 64 ? 0 : from >> (shift + k_bits) << (shift + k_bits);
    return above | static_cast<std::uint64_t>(slot % k_slots) << shift;
}

// When a far slot is opened: as soon as its first unit belongs to level 4.
std::uint64_t timer_wheel::opens_at(std::uint16_t slot) const noexcept {
    return start_of(slot) - (std::uint64_t{k_units - 1} << k_unit_bits);
}

// When there is something to do in a slot that has timers.
std::uint64_t timer_wheel::look_at(std::uint16_t slot) const noexcept {
    timer const* const first = m_first[slot];
    std::uint64_t next = first->deadline;
    timer const* t = first->next;
    for (unsigned seen = 1; t != first; ++seen, t = t->next) {
        if (seen == k_most_visited)
            return slot >= k_first_far * k_slots ? opens_at(slot) : start_of(slot);
        next = std::min(next, t->deadline);
    }
    return next;
}

std::uint64_t timer_wheel::compute_next() const noexcept {
    if (m_near != k_none || m_far != k_none) return m_base;
    std::uint16_t const near = first_near();
    std::uint16_t const far = first_far();
    return std::min(near == k_none ? k_never : look_at(near),
                    far == k_none ? k_never : look_at(far));
}

// From both ends in turn: the next one of either end is on its way from memory while the other
// end's is moved.
timer& timer_wheel::take_one_of(std::uint16_t slot) noexcept {
    timer& first = *m_first[slot];
    m_takes_last = m_takes_both_ends && !m_takes_last;
    timer& t = m_takes_last ? *first.previous : first;
    __builtin_prefetch(m_takes_last ? t.previous : t.next);
    take_out(t);
    return t;
}

void timer_wheel::put(timer& t) noexcept {
    t.slot = slot_of(t.deadline);
    timer*& first = m_first[t.slot];
    if (first == nullptr) {
        first = t.next = t.previous = &t;
        m_used[t.slot / k_slots] |= k_one << t.slot % k_slots;
        m_used_rounds |= 1U << t.slot / k_slots;
        return;
    }
    t.next = first;
    t.previous = first->previous;
    t.previous->next = first->previous = &t;
}

void timer_wheel::take_out(timer& t) noexcept {
    timer*& first = m_first[t.slot];
    if (t.next != &t) {
        t.previous->next = t.next;
        t.next->previous = t.previous;
        if (first == &t) first = t.next;
        return;
    }
    first = nullptr;
    m_used[t.slot / k_slots] &= ~(k_one << t.slot % k_slots);
    if (m_used[t.slot / k_slots] == 0) m_used_rounds &= ~(1U << t.slot / k_slots);
    if (t.slot == m_near) m_near = k_none;
    if (t.slot == m_far) m_far = k_none;
}

} // namespace tulle::wait
