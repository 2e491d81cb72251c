// SPDX-License-Identifier: Apache-2.0
// A meeting whose participants arrive at one time and wait at another, or not at all, and may
// leave. All fields under the lock. A phase:
//   remaining > 0 --last arrival--> remaining = 0, completed by that thread without the lock
//   --end_phase--> the next phase
// The thread that ends a phase takes all waiters at once and wakes them without the lock; it
// touches nothing afterwards.
#pragma once

#include "sync/waits.hpp"

#include <cstdint>
#include <mutex>

namespace tulle::sync {

enum class arrival_result { counted, last, too_many };

template <class Parking> class phased_barrier_core {
public:
    void open(std::uint64_t expected) noexcept { m_expected = m_remaining = expected; }

    // Reports call this; the lock is not taken.
    [[nodiscard]] std::uint64_t remaining() const noexcept { return m_remaining; }
    [[nodiscard]] std::uint64_t expected() const noexcept { return m_expected; }
    [[nodiscard]] bool has_waiters() noexcept {
        std::lock_guard const held(m_lock);
        return !m_waiting.empty();
    }

    // `phase`: what to wait for. last: the caller completes the phase, and calls end_phase().
    [[nodiscard]] arrival_result arrive(std::uint64_t count, bool drops,
                                        std::uint64_t& phase) noexcept {
        Parking::schedule_point();
        std::lock_guard const held(m_lock);
        if (count > m_remaining) return arrival_result::too_many;
        phase = m_phase;
        m_remaining -= count;
        if (drops) m_expected -= count;
        return m_remaining == 0 && count != 0 ? arrival_result::last : arrival_result::counted;
    }
    void end_phase() noexcept {
        m_lock.lock();
        m_remaining = m_expected;
        ++m_phase;
        wait_batch<Parking> all = m_waiting.take_all();
        m_lock.unlock();
        all.wake_all();
    }
    [[nodiscard]] bool try_wait(std::uint64_t phase) noexcept {
        Parking::schedule_point();
        std::lock_guard const held(m_lock);
        return m_phase != phase;
    }
    void wait(std::uint64_t phase) noexcept {
        if (try_wait(phase)) return;
        waiter<Parking> self;
        park({wait::wait_kind::phased_barrier, this}, self, m_lock,
             [this, &self, phase] { return enter(self, phase); });
    }
    // False: the limit was reached; the arrival counts.
    [[nodiscard]] bool wait_until(std::uint64_t phase, limit<Parking> until) noexcept {
        if (try_wait(phase)) return true;
        if (until.is_over()) return false;
        timed_waiter<Parking> self(until);
        auto const join = [this, &self, phase] { return enter(self, phase); };
        return park_until({wait::wait_kind::phased_barrier, this}, self, m_lock, m_waiting, join,
                          [] {});
    }

private:
    [[nodiscard]] bool enter(waiter<Parking>& self, std::uint64_t phase) noexcept {
        if (m_phase != phase) return false;
        m_waiting.push_back(self);
        return true;
    }

    std::uint64_t m_expected = 0; // in the next phase
    std::uint64_t m_remaining = 0;
    std::uint64_t m_phase = 0;
    typename Parking::lock m_lock;
    wait_list<Parking> m_waiting;
};

} // namespace tulle::sync
