// SPDX-License-Identifier: Apache-2.0
// A count that goes down to zero once, and the threads that wait for that. States of the count:
//   n > 0 --last count_down--> k_closing --waiters taken, under the lock--> k_closed
//   k_closed --lock released--> 0
// The store of 0 is the last access to the latch, so a thread that has seen it may destroy the
// latch. Waiters are woken by their nodes alone.
#pragma once

#include "sync/waits.hpp"

#include <atomic>
#include <cstdint>

namespace tulle::sync {

enum class count_down_result { counting, last, too_many };

template <class Parking> class latch_core {
    using machine = typename Parking::machine;
    template <class T> using atomic = typename machine::template atomic<T>;

public:
    // relaxed: before it is shared
    void open(std::int64_t count) noexcept { m_count.store(count, std::memory_order_relaxed); }

    // Reports call this; negative while the last one closes it.
    [[nodiscard]] std::int64_t count() const noexcept {
        return m_count.load(std::memory_order_relaxed);
    }
    // acquire pairs with the release in close.
    [[nodiscard]] bool is_open() const noexcept {
        return m_count.load(std::memory_order_acquire) == 0;
    }

    // too_many: nothing was done.
    count_down_result count_down(std::int64_t by) noexcept {
        Parking::schedule_point();
        // relaxed: the exchange decides
        std::int64_t count = m_count.load(std::memory_order_relaxed);
        for (;;) {
            if (by < 0 || count < by) return count_down_result::too_many;
            if (by == 0) return count_down_result::counting;
            // acq_rel: release pairs with the acquire of the last one, which passes it on to all
            // waiters.
            if (m_count.compare_exchange_weak(count, count == by ? k_closing : count - by,
                                              std::memory_order_acq_rel, std::memory_order_relaxed))
                break;
        }
        if (count != by) return count_down_result::counting;
        close();
        return count_down_result::last;
    }
    // `kind`: what the reports call it.
    void wait(wait::wait_kind kind = wait::wait_kind::latch) noexcept {
        Parking::schedule_point();
        if (is_open()) return;
        waiter<Parking> self;
        bool queued = false;
        park({kind, this}, self, m_lock, [this, &self, &queued] { return queued = enter(self); });
        if (!queued) await_zero();
    }
    [[nodiscard]] bool wait_until(limit<Parking> until,
                                  wait::wait_kind kind = wait::wait_kind::latch) noexcept {
        Parking::schedule_point();
        if (is_open()) return true;
        if (until.is_over()) return false;
        timed_waiter<Parking> self(until);
        bool queued = false;
        if (!park_until(
                {kind, this}, self, m_lock, m_waiting,
                [this, &self, &queued] { return queued = enter(self); }, [] {}))
            return false;
        if (!queued) await_zero();
        return true;
    }

private:
    static constexpr std::int64_t k_closing = -1;
    static constexpr std::int64_t k_closed = -2;

    // relaxed: under the lock, which the closing one takes.
    [[nodiscard]] bool enter(waiter<Parking>& self) noexcept {
        std::int64_t const count = m_count.load(std::memory_order_relaxed);
        if (count == k_closed || count == 0) return false;
        m_waiting.push_back(self);
        return true;
    }
    void close() noexcept {
        m_lock.lock();
        wait_batch<Parking> all = m_waiting.take_all();
        m_count.store(k_closed, std::memory_order_relaxed); // relaxed: published by the lock
        m_lock.unlock();
        m_count.store(0, std::memory_order_release); // pairs with is_open
        all.wake_all();
    }
    // The closing one is between its last two stores.
    void await_zero() const noexcept {
        while (!is_open()) Parking::relax();
    }

    atomic<std::int64_t> m_count{0};
    typename Parking::lock m_lock;
    wait_list<Parking> m_waiting;
};

} // namespace tulle::sync
