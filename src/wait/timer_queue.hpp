// SPDX-License-Identifier: Apache-2.0
// Deadlines of timed waits: a binary heap, linked through its nodes, which live in the frames of their waiters: no wait needs memory. Any
// thread inserts and removes; workers that look for work expire what is due, and the one that sleeps does so until the next deadline.
#pragma once

#include "base/spin_lock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::wait {

inline constexpr std::uint64_t k_never = ~std::uint64_t{0};

struct timer {
    std::uint64_t deadline = k_never;        // ns, monotonic
    void (*fire)(timer&) noexcept = nullptr; // under the queue's lock: short, and never inserts or removes
    // The heap is a complete binary tree. Guarded by the queue's lock.
    timer* parent = nullptr;
    timer* child[2] = {nullptr, nullptr};
    bool queued = false;
};

class timer_queue {
public:
    // True: it is the first, so that a sleeper must be told of an earlier deadline.
    [[nodiscard]] bool insert(timer& t) noexcept;
    // No effect on a timer that has fired. When it returns, fire() is over or will never be called.
    void remove(timer& t) noexcept;
    // Fires all that are due at `now`; how many.
    std::size_t expire(std::uint64_t now) noexcept;
    // relaxed: a hint; a sleeper reads it again after its heavy fence.
    [[nodiscard]] std::uint64_t next_deadline() const noexcept { return m_next.load(std::memory_order_relaxed); }

    // While the process is forked; the child has no waiters, but timers of its own may have been in the queue.
    void lock_for_process_fork() noexcept { m_lock.lock(); }
    void unlock_after_process_fork() noexcept { m_lock.unlock(); }
    void clear() noexcept {
        for (std::size_t k = m_count; k > 0; --k) at(k)->queued = false;
        m_first = nullptr;
        m_count = 0;
        publish_next();
    }

private:
    [[nodiscard]] timer* at(std::size_t position) const noexcept;
    void put(timer* parent, std::size_t side, timer* t) noexcept;
    void swap_with_parent(timer& t) noexcept;
    void sift_up(timer& t) noexcept;
    void sift_down(timer& t) noexcept;
    void take_out(timer& t) noexcept;
    void publish_next() noexcept;

    base::spin_lock m_lock;
    timer* m_first = nullptr;
    std::size_t m_count = 0;
    std::atomic<std::uint64_t> m_next{k_never};
};

} // namespace tulle::wait
