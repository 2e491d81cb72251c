// SPDX-License-Identifier: Apache-2.0
#include "team/collective_inbox.hpp"

#include <tulle/this_thread.hpp>

#include <mutex>
#include <utility>

namespace tulle::teams {

void collective_inbox::arrive(collective_key const& key, collective_body body) {
    signal* waiter = nullptr;
    {
        std::lock_guard const held(m_lock);
        slot& s = m_slots[key];
        s.body = std::move(body);
        waiter = s.waiter;
    }
    if (waiter != nullptr) waiter->notify();
}

// A thread that gave up would leave the message behind. Without memory for a slot the caller waits
// until there is some, or the message has come.
collective_inbox::slots::iterator
collective_inbox::slot_of(collective_key const& key,
                          std::unique_lock<base::spin_lock>& held) noexcept {
    for (;;) {
        try {
            return m_slots.try_emplace(key).first;
        } catch (std::bad_alloc const&) {}
        held.unlock();
        this_thread::yield();
        held.lock();
    }
}

std::optional<collective_body> collective_inbox::take(collective_key const& key) noexcept {
    signal arrived{1};
    std::unique_lock held(m_lock);
    auto const at = slot_of(key, held);
    if (!at->second.body && !m_dead.contains(key.from)) {
        at->second.waiter = &arrived;
        held.unlock();
        arrived.wait();
        held.lock();
    }
    std::optional<collective_body> body = std::move(at->second.body);
    m_slots.erase(at);
    return body;
}

void collective_inbox::lose(net::rank dead) {
    std::lock_guard const held(m_lock);
    m_dead.insert(dead);
    for (auto const& [key, s] : m_slots)
        if (key.from == dead && s.waiter != nullptr && !s.body) s.waiter->notify();
}

} // namespace tulle::teams
