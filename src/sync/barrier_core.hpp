// SPDX-License-Identifier: Apache-2.0
// A meeting of n threads, again and again. All fields under the lock; a phase ends when the last
// arrives, which takes all waiters at once and wakes them without the lock. A thread that is woken
// does not touch the barrier again.
#pragma once

#include "sync/waits.hpp"

#include <cstdint>

namespace tulle::sync {

template <class Parking> class barrier_core {
public:
    void open(std::uint64_t expected) noexcept { m_expected = expected; }
    [[nodiscard]] bool is_open() const noexcept { return m_expected != 0; }
    [[nodiscard]] bool has_waiters() noexcept {
        m_lock.lock();
        bool const some = m_arrived != 0;
        m_lock.unlock();
        return some;
    }

    // Reports call this; the lock is not taken.
    [[nodiscard]] std::uint64_t arrived() const noexcept { return m_arrived; }
    [[nodiscard]] std::uint64_t expected() const noexcept { return m_expected; }

    // Arrives only if the caller is the last: then true.
    [[nodiscard]] bool try_arrive() noexcept {
        Parking::schedule_point();
        m_lock.lock();
        if (m_arrived + 1 != m_expected) {
            m_lock.unlock();
            return false;
        }
        wait_batch<Parking> others = end_phase();
        m_lock.unlock();
        others.wake_all();
        return true;
    }
    // True: the caller was the last of its phase.
    bool arrive_and_wait() noexcept {
        if (try_arrive()) return true;
        waiter<Parking> self;
        wait_batch<Parking> others(nullptr);
        bool waits = true;
        park({wait::wait_kind::barrier, this}, self, m_lock,
             [this, &self, &others, &waits] { return waits = enter(self, others); });
        others.wake_all();
        return !waits;
    }
    // False: the limit was reached; it is as if the caller had not arrived.
    [[nodiscard]] bool arrive_and_wait_until(limit<Parking> until) noexcept {
        if (try_arrive()) return true;
        if (until.is_over()) return false;
        timed_waiter<Parking> self(until);
        wait_batch<Parking> others(nullptr);
        auto const join = [this, &self, &others] { return enter(self, others); };
        bool const met = park_until({wait::wait_kind::barrier, this}, self, m_lock, m_waiting, join,
                                    [this] { --m_arrived; });
        others.wake_all();
        return met;
    }

private:
    [[nodiscard]] wait_batch<Parking> end_phase() noexcept {
        m_arrived = 0;
        return m_waiting.take_all();
    }
    // False: the caller is the last, and wakes the others.
    [[nodiscard]] bool enter(waiter<Parking>& self, wait_batch<Parking>& others) noexcept {
        if (++m_arrived == m_expected) {
            others = end_phase();
            return false;
        }
        m_waiting.push_back(self);
        return true;
    }

    std::uint64_t m_expected = 0;
    std::uint64_t m_arrived = 0;
    typename Parking::lock m_lock;
    wait_list<Parking> m_waiting;
};

} // namespace tulle::sync
