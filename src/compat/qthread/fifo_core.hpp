// SPDX-License-Identifier: Apache-2.0
// The queue of Michael and Scott (1996, doi:10.1145/248052.248106): a list whose first node is a
// dummy, with hazard pointers.
// The head never passes the tail, so a node that the tail points to has not been taken out.
#pragma once

#include "compat/qthread/hazard.hpp"

#include <atomic>

namespace tulle::compat {

template <class Machine> struct fifo_node {
    typename Machine::template atomic<fifo_node*> next{nullptr};
    // Does not change when others can see the node.
    typename Machine::template plain<void*> value{nullptr};
};

template <class Machine> class fifo_core {
    template <class T> using atomic = typename Machine::template atomic<T>;
    using node = fifo_node<Machine>;
    using record = basic_hazard_record<Machine>;

public:
    explicit fifo_core(node* dummy) noexcept : m_head(dummy), m_tail(dummy) {}
    fifo_core(fifo_core const&) = delete;
    fifo_core& operator=(fifo_core const&) = delete;

    void append(record& hazards, node* fresh) noexcept {
        for (;;) {
            node* const tail = hazards.protect(0, m_tail);
            node* next = nullptr;
            // release pairs with the acquire loads of next: the value. acquire: the node that is
            // there already, as it becomes the tail.
            if (tail->next.compare_exchange_strong(next, fresh, std::memory_order_release,
                                                   std::memory_order_acquire)) {
                advance_tail(tail, fresh);
                break;
            }
            advance_tail(tail, next);
        }
        hazards.clear();
    }

    // The value of the first node, which becomes the dummy; the former one is to be retired. Null:
    // empty.
    [[nodiscard]] node* take_first(record& hazards, void*& value) noexcept {
        node* const former = unlink_first(hazards, value);
        hazards.clear();
        return former;
    }

    [[nodiscard]] bool is_empty(record& hazards) noexcept {
        // relaxed: nothing is read from the next node.
        bool const is_last =
            hazards.protect(0, m_head)->next.load(std::memory_order_relaxed) == nullptr;
        hazards.clear();
        return is_last;
    }

    // Nobody else uses the queue.
    [[nodiscard]] node* first() const noexcept { return m_head.load(std::memory_order_relaxed); }

private:
    // Moves the tail one node on, if it is still `from`.
    void advance_tail(node* from, node* to) noexcept {
        // B1 for who announces the tail: who lets the head pass a node has seen that the tail has.
        // release pairs with protect: the node.
        m_tail.compare_exchange_strong(from, to, std::memory_order_release,
                                       std::memory_order_relaxed);
    }

    [[nodiscard]] node* unlink_first(record& hazards, void*& value) noexcept {
        for (;;) {
            node* head = hazards.protect(0, m_head);
            // relaxed: the fence of B2 follows
            node* const tail = m_tail.load(std::memory_order_relaxed);
            node* const next = head->next.load(std::memory_order_acquire); // pairs with append
            // `head` is the last node, so it was the first at this moment, too
            if (next == nullptr) return nullptr;
            hazards.announce(1, next);
            // A2: the node behind the head has not been taken out.
            if (m_head.load(std::memory_order_seq_cst) != head) continue;
            if (head == tail) {
                advance_tail(tail, next);
                continue;
            }
            value = next->value.load();
            // B1. release pairs with protect: the node, which this thread has got by the acquire
            // load of next.
            if (m_head.compare_exchange_strong(head, next, std::memory_order_release,
                                               std::memory_order_relaxed))
                return head;
        }
    }

    alignas(64) atomic<node*> m_head;
    alignas(64) atomic<node*> m_tail;
};

} // namespace tulle::compat
