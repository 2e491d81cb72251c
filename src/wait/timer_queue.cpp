// SPDX-License-Identifier: Apache-2.0
#include "wait/timer_queue.hpp"

#include <mutex>

namespace tulle::wait {

namespace {

constexpr std::uint32_t k_steps_per_lock = 64;
constexpr unsigned k_locks_per_look = 4; // of each wheel

} // namespace

bool timer_queue::insert(timer& t, unsigned inserter) noexcept {
    unsigned const k = inserter % k_wheels;
    {
        std::lock_guard const held(m_wheels[k].lock);
        timer_wheel& wheel = m_wheels[k].wheel;
        bool const is_first_here = t.deadline < wheel.next_deadline();
        t.queue = static_cast<std::uint8_t>(k);
        wheel.insert(t);
        if (!is_first_here) return false;
        publish_next(k);
    }
    return m_next.is_first_of_all(t.deadline);
}

void timer_queue::remove(timer& t) noexcept {
    unsigned const k = t.queue;
    std::lock_guard const held(m_wheels[k].lock);
    if (!t.queued) return;
    m_wheels[k].wheel.remove(t);
    publish_next(k);
}

std::size_t timer_queue::expire(std::uint64_t now) noexcept {
    std::size_t fired = 0;
    for (unsigned k = 0; k < k_wheels; ++k) {
        for (unsigned n = 0; n < k_locks_per_look && m_next.of(k) <= now; ++n) {
            std::lock_guard const held(m_wheels[k].lock);
            fired += m_wheels[k].wheel.expire(now, k_steps_per_lock);
            publish_next(k);
        }
    }
    return fired;
}

// With the lock held.
void timer_queue::publish_next(unsigned of) noexcept { m_next.publish(of, m_wheels[of].wheel.next_deadline()); }

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
