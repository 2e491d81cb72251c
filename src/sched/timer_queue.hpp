// SPDX-License-Identifier: Apache-2.0
// Deadlines of timed waits: a binary heap of nodes that live in the frames of their waiters. Any thread inserts and removes; workers that
// look for work expire what is due, and the one that sleeps does so until the next deadline.
#pragma once

#include "base/spin_lock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tulle::sched {

inline constexpr std::uint64_t k_never = ~std::uint64_t{0};

struct timer {
    std::uint64_t deadline = k_never;        // ns, monotonic
    void (*fire)(timer&) noexcept = nullptr; // under the queue's lock: short, and never inserts or removes
    std::size_t position = 0;                // in the heap, from 1; 0: not in it. Guarded by the queue's lock
};

class timer_queue {
public:
    // False: no memory. `becomes_first` tells whether a sleeper must be told of an earlier deadline.
    [[nodiscard]] bool insert(timer& t, bool& becomes_first) noexcept;
    // No effect on a timer that has fired. When it returns, fire() is over or will never be called.
    void remove(timer& t) noexcept;
    // Fires all that are due at `now`; how many.
    std::size_t expire(std::uint64_t now) noexcept;
    // relaxed: a hint; a sleeper reads it again after its heavy fence.
    [[nodiscard]] std::uint64_t next_deadline() const noexcept { return m_next.load(std::memory_order_relaxed); }

    // While the process is forked; the child has no waiters.
    void lock_for_process_fork() noexcept { m_lock.lock(); }
    void unlock_after_process_fork() noexcept { m_lock.unlock(); }
    void clear() noexcept {
        m_heap.clear();
        publish_next();
    }

private:
    void place(std::size_t position, timer& t) noexcept;
    void sift_up(std::size_t position) noexcept;
    void sift_down(std::size_t position) noexcept;
    void take_out(timer& t) noexcept;
    void publish_next() noexcept;

    base::spin_lock m_lock;
    std::vector<timer*> m_heap; // m_heap[i] has position i + 1
    std::atomic<std::uint64_t> m_next{k_never};
};

} // namespace tulle::sched
