// SPDX-License-Identifier: Apache-2.0
// A queue of threads that any OS thread may push to and take from, first in first out. Few threads
// come this way: those that are placed on a shepherd, that come from outside the workers, or that
// wait for a stack.
#pragma once

#include "base/debug_access.hpp"
#include "base/spin_lock.hpp"
#include "sched/runnable.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>

namespace tulle::sched {

class shared_queue {
public:
    void push(runnable& r) noexcept {
        std::lock_guard const held(m_lock);
        m_list.push_back(r);
        count(r, 1);
    }
    // Null: it is empty.
    [[nodiscard]] runnable* pop() noexcept {
        if (size_hint() == 0) return nullptr;
        std::lock_guard const held(m_lock);
        runnable* const r = m_list.pop_front();
        if (r != nullptr) count(*r, -1);
        return r;
    }
    // As pop, but null as long as there are takers: a thread that was pushed after the first of
    // them had come stays.
    [[nodiscard]] runnable* pop_while_none(std::atomic<int> const& takers) noexcept {
        if (size_hint() == 0) return nullptr;
        std::lock_guard const held(m_lock);
        // relaxed: the lock comes after that of the push.
        if (takers.load(std::memory_order_relaxed) != 0) return nullptr;
        runnable* const r = m_list.pop_front();
        if (r != nullptr) count(*r, -1);
        return r;
    }
    // The first thread that has a stack; null: there is none. Threads that have not started move
    // behind those that have; both kinds keep their order.
    [[nodiscard]] runnable* pop_started() noexcept;
    // Half of what there is, `most` at most, of the threads at the front that have a stack.
    [[nodiscard]] runnable_list pop_some_started(std::uint32_t most) noexcept;
    // Takes out those for which `is_wanted` says true; they keep their order.
    template <class Predicate> [[nodiscard]] runnable_list extract(Predicate is_wanted) noexcept {
        if (size_hint() == 0) return {};
        std::lock_guard const held(m_lock);
        return m_list.extract(is_wanted, [this](runnable const& r) { count(r, -1); });
    }

    // How many there are, and how many of these have a stack. relaxed, both: hints. A sleeper reads
    // them after its heavy fence, and whoever pushes has its own fence behind the push (H2 and G1
    // of park/idle_set.hpp).
    [[nodiscard]] std::uint32_t size_hint() const noexcept {
        return m_size.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint32_t started_hint() const noexcept {
        return m_started.load(std::memory_order_relaxed);
    }

private:
    friend struct base::debug_access;
    // relaxed, all: written under the lock; to others they are hints.
    void count(runnable const& r, int by) noexcept {
        auto const change = static_cast<std::uint32_t>(by);
        m_size.store(m_size.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
        if (r.kind == runnable_kind::fiber)
            m_started.store(m_started.load(std::memory_order_relaxed) + change,
                            std::memory_order_relaxed);
    }

    base::spin_lock m_lock; // guards the list
    runnable_list m_list;
    std::atomic<std::uint32_t> m_size{0};
    std::atomic<std::uint32_t> m_started{0};
};

} // namespace tulle::sched
