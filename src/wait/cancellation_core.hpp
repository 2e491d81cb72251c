// SPDX-License-Identifier: Apache-2.0
// Something that can be cancelled once, or until it is renewed, and the waits that end when it is.
// A wait has a node in its frame, as it has one in the timer queue, and the rules are the same:
// cancel() is called under the lock, at most once for each insertion; when remove() returns, it is
// over or will never be called. What has been cancelled stays so: a node that comes later is called
// at once.
#pragma once

#include "base/intrusive_list.hpp"
#include "base/spin_lock.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>

namespace tulle::wait {

template <class Machine> struct cancellation_node {
    template <class T> using plain = typename Machine::template plain<T>;

    void (*cancel)(cancellation_node&) noexcept = nullptr; // short, and never inserts or removes
    // Guarded by the core's lock.
    plain<cancellation_node*> after{nullptr};
    plain<cancellation_node*> before{nullptr};
    bool inserted = false;
};

template <class Machine> class cancellation_core {
    template <class T> using atomic = typename Machine::template atomic<T>;
    using section = std::lock_guard<base::basic_spin_lock<Machine>>;

public:
    using node = cancellation_node<Machine>;

    // acquire pairs with the release in request.
    [[nodiscard]] bool is_requested() const noexcept {
        return m_requested.load(std::memory_order_acquire);
    }

    // True: this call has done it. What happens before it happens before what sees it.
    bool request() noexcept {
        {
            section const held(m_lock);
            // relaxed: written under this lock
            if (m_requested.load(std::memory_order_relaxed)) return false;
            // Pairs with is_requested.
            m_requested.store(true, std::memory_order_release);
        }
        while (cancel_some()) {}
        return true;
    }
    // Forgets what has been requested, for one whose waits it ends each time. Called by that one,
    // while it does not wait; whatever it reads next it reads after the requests that are
    // forgotten. A wait that begins later may still end by one of those.
    void renew() noexcept {
        section const held(m_lock);
        m_requested.store(false, std::memory_order_relaxed); // relaxed: the lock orders it
    }
    void insert(node& n) noexcept {
        section const held(m_lock);
        // relaxed: written under this lock
        if (m_requested.load(std::memory_order_relaxed)) return n.cancel(n);
        m_nodes.push_front(n);
        n.inserted = true;
    }
    void remove(node& n) noexcept {
        section const held(m_lock);
        if (n.inserted) unlink(n);
    }
    // Whether something is inserted: a snapshot. Nothing is, when it is destroyed.
    [[nodiscard]] bool has_nodes() noexcept {
        section const held(m_lock);
        return !m_nodes.empty();
    }

private:
    static constexpr int k_at_once = 64; // under the lock, for which others spin

    [[nodiscard]] bool cancel_some() noexcept {
        section const held(m_lock);
        for (int k = 0; k < k_at_once && !m_nodes.empty(); ++k) {
            node& n = *m_nodes.first();
            unlink(n);
            n.cancel(n);
        }
        return !m_nodes.empty();
    }
    void unlink(node& n) noexcept {
        m_nodes.remove(n);
        n.inserted = false;
    }

    base::basic_spin_lock<Machine> m_lock;
    atomic<bool> m_requested{false}; // written under the lock
    base::intrusive_list<&node::after, &node::before> m_nodes;
};

} // namespace tulle::wait
