// SPDX-License-Identifier: Apache-2.0
// Something that is done once. States of the word: not done --begin--> running --finish--> done, or
// not done again.
// The word leaves `running` under the lock, so a waiter that has seen it there is found.
#pragma once

#include "sync/waits.hpp"

#include <atomic>
#include <cstdint>

namespace tulle::sync {

enum : std::uint32_t { k_not_done = 0, k_running = 1, k_done = 2 };

template <class Parking> struct once_queue {
    typename Parking::lock lock;
    wait_list<Parking> waiting;
};

template <class Parking> class once_core {
    using word = typename Parking::machine::template atomic<std::uint32_t>;

public:
    once_core(word& state, once_queue<Parking>& queue) noexcept : m_state(state), m_queue(queue) {}

    // True: the caller does it, and calls finish(). False: it is done.
    [[nodiscard]] bool begin() noexcept {
        Parking::schedule_point();
        for (;;) {
            std::uint32_t state = k_not_done;
            // acquire, both: pairs with the release in finish.
            if (m_state.compare_exchange_strong(state, k_running, std::memory_order_acquire,
                                                std::memory_order_acquire))
                return true;
            if (state == k_done) return false;
            wait_while_running();
        }
    }
    void finish(bool done) noexcept {
        Parking::schedule_point();
        m_queue.lock.lock();
        // Pairs with begin and once_flag::is_done.
        m_state.store(done ? k_done : k_not_done, std::memory_order_release);
        wait_batch<Parking> all = m_queue.waiting.take_all();
        m_queue.lock.unlock();
        all.wake_all();
    }

private:
    void wait_while_running() noexcept {
        waiter<Parking> self;
        park({wait::wait_kind::once, &m_state}, self, m_queue.lock, [this, &self] {
            // relaxed: under the lock, and begin() checks again
            if (m_state.load(std::memory_order_relaxed) != k_running) return false;
            m_queue.waiting.push_back(self);
            return true;
        });
    }

    word& m_state;
    once_queue<Parking>& m_queue;
};

} // namespace tulle::sync
