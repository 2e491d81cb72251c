// SPDX-License-Identifier: Apache-2.0
// First-in first-out list of waiters, linked through their nodes; and the two ways to wait in one.
// The guarding lock is the caller's.
// take_all() is O(1) however many wait: it starts a new epoch, and nodes of older epochs are no
// longer in the list.
#pragma once

#include "base/intrusive_list.hpp"
#include "wait/wait_kind.hpp"
#include "wait/waiter.hpp"

#include <atomic>
#include <cstdint>

namespace tulle::wait {

// Waiters that were taken off their list together, to be woken without any lock.
template <class Parking> class wait_batch {
public:
    explicit wait_batch(waiter<Parking>* first) noexcept : m_first(first) {}

    void wake_all() noexcept {
        while (waiter<Parking>* const w = m_first) {
            m_first = w->next.load();
            auto const thread = w->thread;
            // relaxed: resume and suspend order it
            if (!w->timed) w->state.store(outcome::woken, std::memory_order_relaxed);
            // release pairs with await_release: a waiter whose limit was reached may go on, and
            // this is the last access to its node.
            else if (w->state.exchange(outcome::woken, std::memory_order_release) !=
                     outcome::waiting)
                continue;
            Parking::resume(thread);
        }
    }

private:
    waiter<Parking>* m_first;
};

// Waiters whose waits the caller has ended, one by one: to be resumed without any lock, first come,
// first served.
template <class Parking> class woken_chain {
public:
    void add(waiter<Parking>& w) noexcept { m_waiters.push_back(w); }
    void resume_all() noexcept {
        while (waiter<Parking>* const w = m_waiters.pop_front())
            Parking::resume(w->thread); // the last access to its node
    }

private:
    base::intrusive_queue<&waiter<Parking>::next> m_waiters;
};

template <class Parking> class wait_list {
public:
    using node = waiter<Parking>;

    [[nodiscard]] bool empty() const noexcept { return m_nodes.empty(); }
    [[nodiscard]] node* first() const noexcept { return m_nodes.first(); }
    [[nodiscard]] bool contains(node const& w) const noexcept {
        return w.linked && w.epoch == m_epoch;
    }

    void push_back(node& w) noexcept {
        enter(w);
        m_nodes.push_back(w);
    }
    void push_front(node& w) noexcept {
        enter(w);
        m_nodes.push_front(w);
    }
    void unlink(node& w) noexcept {
        m_nodes.remove(w);
        w.linked = false;
    }
    // The first whose wait the caller may end: it is off the list, and must be resumed. Null: none.
    [[nodiscard]] node* pop_front() noexcept {
        while (node* const w = first()) {
            unlink(*w);
            if (w->try_wake()) return w;
        }
        return nullptr;
    }
    [[nodiscard]] wait_batch<Parking> take_all() noexcept {
        wait_batch<Parking> const all(first());
        m_nodes.clear();
        ++m_epoch;
        return all;
    }

private:
    void enter(node& w) noexcept {
        w.linked = true;
        w.epoch = m_epoch;
    }

    base::intrusive_list<&node::next, &node::prev> m_nodes;
    std::uint32_t m_epoch = 0;
};

namespace detail_park {

template <class Parking, class Lock, class Enter> struct request {
    Lock& guard;
    waiter<Parking>& self;
    // Called under the guard: it links the waiter and returns true, or returns false if there is no
    // need to wait.
    Enter& enter;
    limit_timer<Parking>* ending; // or null
};

// The limit starts under the guard: once that is released the node may be gone.
template <class Parking, class Lock, class Enter> void post_park(void* argument, void*) noexcept {
    auto& r = *static_cast<request<Parking, Lock, Enter>*>(argument);
    Lock& guard = r.guard;
    auto const thread = r.self.thread;
    guard.lock();
    bool const waits = r.enter();
    // relaxed: nobody else knows the node
    if (!waits) r.self.state.store(outcome::woken, std::memory_order_relaxed);
    if (waits && r.ending != nullptr) r.ending->start();
    guard.unlock();
    if (!waits) Parking::resume(thread);
}

} // namespace detail_park

// Suspends the caller, takes the guard, and waits in the list that `enter` links the node into. The
// guard is not held afterwards.
template <class Parking, class Lock, class Enter>
void park(wait_reason reason, waiter<Parking>& w, Lock& guard, Enter enter,
          limit_timer<Parking>* ending = nullptr) noexcept {
    Parking::set_wait(w.thread, reason);
    detail_park::request<Parking, Lock, Enter> r{guard, w, enter, ending};
    Parking::suspend(&detail_park::post_park<Parking, Lock, Enter>, &r, nullptr);
}

// Waits until the taker of a batch is done with the node of a waiter that timed out in it.
template <class Parking> void await_release(waiter<Parking>& w) noexcept {
    while (w.load_state() != outcome::woken) Parking::relax();
}

// Like park(), until a limit is reached. False: it was reached, and the node is off the list; if it
// was still in the list, `leave` has run under the guard. Node: what the list's nodes are.
template <class Parking, class Node, class Lock, class Enter, class Leave>
[[nodiscard]] bool park_until(wait_reason reason, timed_waiter<Parking, Node>& w, Lock& guard,
                              wait_list<Parking>& list, Enter enter, Leave leave) noexcept {
    park(reason, static_cast<waiter<Parking>&>(w), guard, enter, &w);
    bool const ended = w.has_ended();
    if (!ended) {
        w.stop();
        return true;
    }
    guard.lock(); // the starter of the limit has released it
    bool const in_batch = w.linked && !list.contains(w);
    if (list.contains(w)) {
        list.unlink(w);
        leave();
    }
    guard.unlock();
    w.stop();
    if (in_batch) await_release<Parking>(w);
    return in_batch;
}

} // namespace tulle::wait
