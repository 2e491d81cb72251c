// SPDX-License-Identifier: Apache-2.0
// Something that can be cancelled once, and the waits that end when it is. A wait has a node in its frame, as it has one in the timer queue,
// and the rules are the same: cancel() is called under the lock, at most once for each insertion; when remove() returns, it is over or will
// never be called. What has been cancelled stays so: a node that comes later is called at once.
#pragma once

#include "base/spin_lock.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>

namespace tulle::wait {

struct cancellation_node {
    void (*cancel)(cancellation_node&) noexcept = nullptr; // short, and never inserts or removes
    // Guarded by the core's lock.
    cancellation_node* after = nullptr;
    cancellation_node* before = nullptr;
    bool inserted = false;
};

template <class Machine> class cancellation_core {
    template <class T> using atomic = typename Machine::template atomic<T>;
    using section = std::lock_guard<base::basic_spin_lock<Machine>>;

public:
    // acquire pairs with the release in request.
    [[nodiscard]] bool is_requested() const noexcept { return m_requested.load(std::memory_order_acquire); }

    // True: this call has done it. What happens before it happens before what sees it.
    bool request() noexcept {
        {
            section const held(m_lock);
            if (m_requested.load(std::memory_order_relaxed)) return false; // relaxed: written under this lock
            m_requested.store(true, std::memory_order_release);            // pairs with is_requested
        }
        while (cancel_some()) {}
        return true;
    }
    void insert(cancellation_node& n) noexcept {
        section const held(m_lock);
        if (m_requested.load(std::memory_order_relaxed)) return n.cancel(n); // relaxed: written under this lock
        n.after = m_first;
        n.before = nullptr;
        n.inserted = true;
        if (m_first != nullptr) m_first->before = &n;
        m_first = &n;
    }
    void remove(cancellation_node& n) noexcept {
        section const held(m_lock);
        if (n.inserted) unlink(n);
    }

private:
    static constexpr int k_at_once = 64; // under the lock, for which others spin

    [[nodiscard]] bool cancel_some() noexcept {
        section const held(m_lock);
        for (int k = 0; k < k_at_once && m_first != nullptr; ++k) {
            cancellation_node& n = *m_first;
            unlink(n);
            n.cancel(n);
        }
        return m_first != nullptr;
    }
    void unlink(cancellation_node& n) noexcept {
        (n.before == nullptr ? m_first : n.before->after) = n.after;
        if (n.after != nullptr) n.after->before = n.before;
        n.inserted = false;
    }

    base::basic_spin_lock<Machine> m_lock;
    atomic<bool> m_requested{false}; // written under the lock
    cancellation_node* m_first = nullptr;
};

} // namespace tulle::wait
