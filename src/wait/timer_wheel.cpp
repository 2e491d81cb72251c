// SPDX-License-Identifier: Apache-2.0
#include "wait/timer_wheel.hpp"

#include <algorithm>
#include <bit>

namespace tulle::wait {

namespace {

constexpr std::uint64_t k_one = 1;

} // namespace

void timer_wheel::insert(timer& t) noexcept {
    t.queued = true;
    put(t);
    m_next = std::min(m_next, t.deadline);
}

void timer_wheel::remove(timer& t) noexcept {
    bool const was_alone = t.next == &t;
    take_out(t);
    t.queued = false;
    if (was_alone || t.deadline <= m_next) m_next = compute_next();
}

std::size_t timer_wheel::expire(std::uint64_t now, std::uint32_t steps) noexcept {
    std::size_t fired = 0;
    for (; steps != 0 && open(now); --steps) {
        timer& t = *m_first[m_opened];
        bool const is_due = m_is_over;
        take_out(t);
        if (!is_due) {
            put(t);
            continue;
        }
        t.queued = false;
        t.fire(t);
        ++fired;
    }
    m_next = compute_next();
    return fired;
}

void timer_wheel::clear() noexcept {
    for (unsigned level = 0; level < k_levels; ++level) {
        for (; m_used[level] != 0; m_used[level] &= m_used[level] - 1) {
            timer*& first = m_first[level * k_slots + static_cast<unsigned>(std::countr_zero(m_used[level]))];
            for (timer* t = first; t->queued; t = t->next) t->queued = false;
            first = nullptr;
        }
    }
    m_opened = k_none;
    m_next = k_never;
}

// Sees to it that a slot is open, if there is one that begins by `now`.
bool timer_wheel::open(std::uint64_t now) noexcept {
    if (m_opened != k_none) return true;
    std::uint16_t const slot = first_slot();
    if (slot == k_none || start_of(slot) > now) return false;
    unsigned const level = slot / k_slots;
    m_base = start_of(slot);
    m_is_over = level <= k_fired_whole && now - m_base >= (k_one << (level * k_bits)) - 1;
    m_opened = slot;
    return true;
}

// Where a deadline belongs that the base has not come to; one that it has passed is due, and belongs to the base.
std::uint16_t timer_wheel::slot_of(std::uint64_t deadline) const noexcept {
    deadline = std::max(deadline, m_base);
    unsigned const level = (static_cast<unsigned>(std::bit_width((deadline ^ m_base) | 1)) - 1) / k_bits;
    return static_cast<std::uint16_t>(level * k_slots + (deadline >> (level * k_bits)) % k_slots);
}

std::uint16_t timer_wheel::first_slot() const noexcept {
    for (unsigned level = 0; level < k_levels; ++level)
        if (m_used[level] != 0) return static_cast<std::uint16_t>(level * k_slots + static_cast<unsigned>(std::countr_zero(m_used[level])));
    return k_none;
}

// Of a used one that is not open: its level's digit differs from the base's, the digits above are the same, those below are 0.
std::uint64_t timer_wheel::start_of(std::uint16_t slot) const noexcept {
    unsigned const shift = slot / k_slots * k_bits;
    std::uint64_t const digits = slot % k_slots;
    std::uint64_t const above = shift + k_bits >= 64 ? 0 : m_base >> (shift + k_bits) << (shift + k_bits);
    return above | digits << shift;
}

std::uint64_t timer_wheel::compute_next() const noexcept {
    if (m_opened != k_none) return m_base;
    std::uint16_t const slot = first_slot();
    if (slot == k_none) return k_never;
    timer const* const first = m_first[slot];
    std::uint64_t next = first->deadline;
    timer const* t = first->next;
    for (unsigned seen = 1; t != first; ++seen, t = t->next) {
        if (seen == k_most_looked_at) return start_of(slot);
        next = std::min(next, t->deadline);
    }
    return next;
}

void timer_wheel::put(timer& t) noexcept {
    t.slot = slot_of(t.deadline);
    timer*& first = m_first[t.slot];
    if (first == nullptr) {
        first = t.next = t.previous = &t;
        m_used[t.slot / k_slots] |= k_one << t.slot % k_slots;
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
    if (t.slot == m_opened) m_opened = k_none;
}

} // namespace tulle::wait
