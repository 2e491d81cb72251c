// SPDX-License-Identifier: Apache-2.0
// Threads that wait for a notification, each of which lets go of a mutex in the same step. The
// queue's lock is held from linking the waiter to the mutex's unlock, so that a thread that
// locks the mutex afterwards finds the waiter. Lock order: this queue, then the mutex's.
#pragma once

#include "sync/waits.hpp"

#include <cstdint>
#include <mutex>

namespace tulle::sync {

template <class Parking> class condition_core {
public:
    // `unlock` lets go of the mutex; it runs when the caller is suspended.
    template <class Unlock> void wait(Unlock unlock) noexcept {
        Parking::schedule_point();
        waiter<Parking> self;
        park({wait::wait_kind::condition, this}, self, m_lock,
             [this, &self, &unlock] { return enter(self, unlock); });
    }
    // False: the limit was reached.
    template <class Unlock>
    [[nodiscard]] bool wait_until(limit<Parking> until, Unlock unlock) noexcept {
        Parking::schedule_point();
        timed_waiter<Parking> self(until);
        return park_until(
            {wait::wait_kind::condition, this}, self, m_lock, m_waiting,
            [this, &self, &unlock] { return enter(self, unlock); }, [] {});
    }
    void notify_one() noexcept {
        Parking::schedule_point();
        m_lock.lock();
        waiter<Parking>* const first = m_waiting.pop_front();
        m_lock.unlock();
        if (first != nullptr) Parking::resume(first->thread);
    }
    void notify_all() noexcept {
        Parking::schedule_point();
        m_lock.lock();
        wait_batch<Parking> all = m_waiting.take_all();
        m_lock.unlock();
        all.wake_all();
    }
    [[nodiscard]] bool has_waiters() noexcept {
        std::lock_guard const held(m_lock);
        return !m_waiting.empty();
    }

private:
    template <class Unlock> bool enter(waiter<Parking>& self, Unlock& unlock) noexcept {
        m_waiting.push_back(self);
        unlock();
        return true;
    }

    typename Parking::lock m_lock;
    wait_list<Parking> m_waiting;
};

} // namespace tulle::sync
