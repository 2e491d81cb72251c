// SPDX-License-Identifier: Apache-2.0
#include "wait/timer_queue.hpp"

#include <algorithm>
#include <mutex>

namespace tulle::wait {

namespace {

constexpr std::uint32_t k_steps_per_lock = 64;
// A wheel that has not seen the time for longer puts timers too far away at first.
constexpr std::uint64_t k_old_ns = 500'000'000;

} // namespace

bool timer_queue::insert(timer& t, unsigned inserter) noexcept {
    unsigned const k = inserter % k_wheels;
    std::uint64_t next = k_never;
    {
        std::lock_guard const held(m_wheels[k].lock);
        timer_wheel& wheel = m_wheels[k].wheel;
        std::uint64_t const before = wheel.next_deadline();
        t.queue = static_cast<std::uint8_t>(k);
        wheel.insert(t);
        next = wheel.next_deadline(); // of many timers earlier than any of their deadlines
        if (next == before) return false;
        publish_next(k);
    }
    return m_next.is_first_of_all(next);
}

void timer_queue::remove(timer& t) noexcept {
    unsigned const k = t.queue;
    std::lock_guard const held(m_wheels[k].lock);
    if (!t.queued) return;
    m_wheels[k].wheel.remove(t);
    publish_next(k);
}

std::size_t timer_queue::expire(std::uint64_t now, std::uint32_t steps) noexcept {
    std::size_t fired = 0;
    bool const is_old =
        // relaxed, both: it costs only time if they are taken for older
        now - m_seen.load(std::memory_order_relaxed) > k_old_ns;
    if (is_old) m_seen.store(now, std::memory_order_relaxed);
    for (unsigned k = 0; k < k_wheels; ++k) {
        if (is_old || m_next.of(k) <= now) fired += expire(k, now, steps);
    }
    return fired;
}

std::size_t timer_queue::expire(unsigned k, std::uint64_t now, std::uint32_t steps) noexcept {
    std::size_t fired = 0;
    for (std::uint32_t some = 0; steps != 0; steps -= some) {
        some = std::min(steps, k_steps_per_lock);
        std::unique_lock const held(m_wheels[k].lock, std::try_to_lock);
        if (!held) break;
        fired += m_wheels[k].wheel.expire(now, some);
        publish_next(k);
        if (m_next.of(k) > now) break;
    }
    return fired;
}

bool timer_queue::is_being_expired(std::uint64_t now) const noexcept {
    for (unsigned k = 0; k < k_wheels; ++k) {
        if (m_next.of(k) <= now && !m_wheels[k].lock.looks_held()) return false;
    }
    return true;
}

void timer_queue::start_at(std::uint64_t now, timer_order order) noexcept {
    m_seen.store(now, std::memory_order_relaxed); // relaxed: see expire
    for (unsigned k = 0; k < k_wheels; ++k) {
        std::lock_guard const held(m_wheels[k].lock);
        m_wheels[k].wheel.start_at(now, order);
        publish_next(k);
    }
}

// The caller holds the wheel's lock.
void timer_queue::publish_next(unsigned k) noexcept {
    m_next.publish(k, m_wheels[k].wheel.next_deadline());
}

void timer_queue::lock_for_process_fork() noexcept {
    for (auto& w : m_wheels) w.lock.lock();
}

void timer_queue::unlock_after_process_fork() noexcept {
    for (auto& w : m_wheels) w.lock.unlock();
}

void timer_queue::clear() noexcept {
    for (unsigned k = 0; k < k_wheels; ++k) {
        m_wheels[k].wheel.clear();
        publish_next(k);
    }
}

} // namespace tulle::wait
