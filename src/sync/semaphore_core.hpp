// SPDX-License-Identifier: Apache-2.0
// A number of units; a thread takes one, or waits until it is given one. One word decides:
//   bit 0: threads wait | bits 1..63: units
//   INV-1  under the lock: the bit is set exactly while the list is not empty, and then there are
//          no units
// While the bit is clear units come and go by compare-and-swap; while it is set the word is written
// under the lock only, and a unit goes to the thread that has waited longest. So nobody overtakes a
// waiting thread.
#pragma once

#include "sync/waits.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>

namespace tulle::sync {

template <class Parking> class semaphore_core {
    template <class T> using atomic = typename Parking::machine::template atomic<T>;

public:
    static constexpr std::uint64_t k_most = std::uint64_t{1} << 62;

    // relaxed: before it is shared
    void open(std::uint64_t units) noexcept {
        m_word.store(units * k_unit, std::memory_order_relaxed);
    }

    // Snapshots; relaxed: nothing is read on their strength.
    [[nodiscard]] std::uint64_t count() const noexcept {
        return m_word.load(std::memory_order_relaxed) / k_unit;
    }
    [[nodiscard]] bool has_waiters() const noexcept {
        return (m_word.load(std::memory_order_relaxed) & k_waiting) != 0;
    }

    [[nodiscard]] bool try_acquire() noexcept {
        Parking::schedule_point();
        return take();
    }
    void acquire() noexcept {
        if (try_acquire()) return;
        waiter<Parking> self;
        park({wait::wait_kind::semaphore, this}, self, m_lock,
             [this, &self] { return enter(self); });
    }
    // False: the limit was reached, and nothing was taken.
    [[nodiscard]] bool acquire_until(limit<Parking> until) noexcept {
        if (try_acquire()) return true;
        if (until.is_over()) return false;
        timed_waiter<Parking> self(until);
        auto const join = [this, &self] { return enter(self); };
        return park_until({wait::wait_kind::semaphore, this}, self, m_lock, m_waiting, join,
                          [this] { settle(0); });
    }
    // False: there would be more than k_most, and nothing was done.
    [[nodiscard]] bool release(std::uint64_t units) noexcept {
        Parking::schedule_point();
        // relaxed: the exchange decides
        std::uint64_t word = m_word.load(std::memory_order_relaxed);
        for (;;) {
            if (units > k_most - word / k_unit) return false;
            if ((word & k_waiting) != 0) {
                if (give(units)) return true;
                word = m_word.load(std::memory_order_relaxed); // relaxed: as above
            } else if (m_word.compare_exchange_weak(word, word + units * k_unit,
                                                    std::memory_order_release,
                                                    std::memory_order_relaxed)) {
                return true; // release pairs with take and enter
            }
        }
    }

private:
    static constexpr std::uint64_t k_waiting = 1;
    static constexpr std::uint64_t k_unit = 2;

    [[nodiscard]] bool take() noexcept {
        // relaxed: the exchange decides
        std::uint64_t word = m_word.load(std::memory_order_relaxed);
        while (word >= k_unit) {
            // acquire pairs with the releases in release and settle.
            if (m_word.compare_exchange_weak(word, word - k_unit, std::memory_order_acquire,
                                             std::memory_order_relaxed))
                return true;
        }
        return false;
    }
    // Called under the lock. False: the caller has got a unit.
    [[nodiscard]] bool enter(waiter<Parking>& self) noexcept {
        // relaxed: the exchanges decide
        std::uint64_t word = m_word.load(std::memory_order_relaxed);
        for (;;) {
            if (word >= k_unit) {
                if (take()) return false;
                word = m_word.load(std::memory_order_relaxed); // relaxed: as above
            } else if (word == k_waiting ||
                       m_word.compare_exchange_weak(word, k_waiting, std::memory_order_relaxed,
                                                    std::memory_order_relaxed)) {
                m_waiting.push_back(self); // INV-1
                return true;
            }
        }
    }
    // False: nobody waits any longer.
    [[nodiscard]] bool give(std::uint64_t units) noexcept {
        woken_chain<Parking> woken;
        {
            std::lock_guard const held(m_lock);
            if (!has_waiters()) return false;
            for (; units > 0; --units) {
                waiter<Parking>* const w = m_waiting.pop_front();
                if (w == nullptr) break;
                woken.add(*w);
            }
            settle(units);
        }
        woken.resume_all();
        return true;
    }
    // Called under the lock, with the bit set: makes INV-1 true again.
    void settle(std::uint64_t left) noexcept {
        // Pairs with take.
        if (m_waiting.empty()) m_word.store(left * k_unit, std::memory_order_release);
    }

    atomic<std::uint64_t> m_word{0};
    typename Parking::lock m_lock;
    wait_list<Parking> m_waiting;
};

} // namespace tulle::sync
