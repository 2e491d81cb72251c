// SPDX-License-Identifier: Apache-2.0
// A full/empty state beside its value, with its queue: the Home of word_wait.hpp for
// <tulle/detail/full_empty_front.hpp>.
#pragma once

#include "sync/word_change.hpp"
#include "sync/word_wait.hpp"

#include <tulle/detail/full_empty_front.hpp>

#include <cstdint>

namespace tulle::sync {

template <class Parking, class Cell> class object_home {
public:
    using front_type = tulle::detail::basic_full_empty_front<typename Parking::front_machine>;
    using value = typename front_type::value;
    using queue = word_queue<Parking>;
    static constexpr bool k_has_owner = false; // nobody else reaches the value
    static constexpr bool k_is_lock = false;

    object_home(front_type& front, Cell cell) noexcept : m_front(front), m_cell(cell) {}

    void lock() noexcept { m_head = m_front.lock(); }
    void adopt_lock(value before) noexcept { m_head = before; }
    void unlock() noexcept { m_front.unlock(m_head); }

    [[nodiscard]] word_result attempt(feb_operation operation, void* buffer) noexcept {
        queue* const q = waiting();
        value& state = q == nullptr ? m_head : q->next;
        bool const was_full = front_type::is_full(state);
        word_change<Parking, Cell> change(m_cell, was_full, q, m_wakes);
        if (!change.apply(operation, buffer)) return word_result::waits;
        // A purge that a waiting writer has filled again is an emptying, too.
        if (was_full && empties(operation)) state = front_type::emptied(state);
        if (change.is_full() && front_type::is_empty(state)) state = front_type::filled(state);
        if (q != nullptr) set_queue(*q, change.settle());
        return word_result::done;
    }
    // Operations that fill call this instead of attempt and unlock: the value goes to the only
    // thread that waits to take it. False: nothing was done.
    [[nodiscard]] bool hand_over(feb_operation operation, void* buffer) noexcept {
        word_waiter<Parking>* const taker =
            waiting() == nullptr ? nullptr : waiting()->only_taker();
        if (taker == nullptr) return false;
        m_head = front_type::emptied(front_type::filled(waiting()->next));
        pass_on(m_cell, operation, buffer, *taker);
        unlock();
        Parking::resume(taker->thread);
        return true;
    }
    void enqueue(word_waiter<Parking>& w) noexcept {
        (waiting() == nullptr ? host_queue(w) : *waiting()).list_of(w).push_back(w);
    }
    // Enqueues a waiter that must wait where no other thread does. False: nothing was done.
    [[nodiscard]] bool enqueue_first(word_waiter<Parking>& w) noexcept {
        if (!(needs_full(w.wants)
                  ? front_type::is_empty(m_head)
                  : w.wants == feb_operation::write_ef && front_type::is_full(m_head)))
            return false;
        host_queue(w).list_of(w).push_back(w);
        return true;
    }
    void withdraw(word_waiter<Parking>& w) noexcept {
        queue* const q = waiting();
        word_queue_change<Parking> change(q);
        change.remove(w);
        set_queue(*q, change.settle());
    }
    // Attempt does not ask for any.
    [[nodiscard]] static bool get_memory() noexcept { return false; }
    void wake(void const* buffer) noexcept { m_wakes.wake_all(m_cell, buffer); }

    // The caller holds the lock.
    [[nodiscard]] bool is_full() const noexcept {
        return front_type::is_full(waiting() == nullptr ? m_head : waiting()->next);
    }
    [[nodiscard]] queue* waiting() const noexcept {
        return (m_head & k_queue) == 0 ? nullptr : reinterpret_cast<queue*>(m_head - k_queue);
    }

private:
    static constexpr value k_queue = 4;

    [[nodiscard]] queue& host_queue(word_waiter<Parking>& w) noexcept {
        queue* const q = w.make_own();
        q->next = m_head;
        q->host = &w;
        m_head = pointer_to(q);
        return *q;
    }
    [[nodiscard]] static value pointer_to(queue* q) noexcept {
        return reinterpret_cast<value>(q) + k_queue;
    }
    void set_queue(queue const& old, queue* now) noexcept {
        m_head = now == nullptr ? old.next : pointer_to(now);
    }

    front_type& m_front;
    Cell m_cell;
    value m_head = 0; // meaningful with the lock held
    word_wakes<Parking> m_wakes;
};

} // namespace tulle::sync
