// SPDX-License-Identifier: Apache-2.0
// What is to be done when an event has happened, once: a list of nodes in the order in which they
// came, until it is closed.
// One word: the last node that came, linked by `next` to those before it, or k_closed.
#pragma once

#include "base/intrusive_list.hpp"

#include <atomic>
#include <cstdint>
#include <utility>

namespace tulle::sync {

// Node: has a field `next` of type Node*.
template <class Machine, class Node> class callback_list {
public:
    // False: it was closed before, and what came before close() is visible.
    [[nodiscard]] bool add(Node& n) noexcept {
        std::uintptr_t last = m_last.load(std::memory_order_acquire); // pairs with close
        do {
            if (last == k_closed) return false;
            n.next = reinterpret_cast<Node*>(last);
            // release pairs with close, which goes through the nodes; acquire: it may be closed
            // now.
        } while (!m_last.compare_exchange_weak(last, reinterpret_cast<std::uintptr_t>(&n),
                                               std::memory_order_release,
                                               std::memory_order_acquire));
        return true;
    }
    // Once. All that were added, first come first.
    [[nodiscard]] base::intrusive_queue<&Node::next> close() noexcept {
        // acq_rel: release pairs with is_closed and add; acquire with add.
        auto* n = reinterpret_cast<Node*>(m_last.exchange(k_closed, std::memory_order_acq_rel));
        base::intrusive_queue<&Node::next> all;
        while (n != nullptr) all.push_front(*std::exchange(n, n->next));
        return all;
    }
    // Pairs with close.
    [[nodiscard]] bool is_closed() const noexcept {
        return m_last.load(std::memory_order_acquire) == k_closed;
    }

private:
    static constexpr std::uintptr_t k_closed = 1;

    typename Machine::template atomic<std::uintptr_t> m_last{0};
};

} // namespace tulle::sync
