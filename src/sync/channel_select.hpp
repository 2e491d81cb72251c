// SPDX-License-Identifier: Apache-2.0
// One send or receive of several, whichever can go on first: takes the locks of all the channels,
// in the order of their addresses, and tries each; if none can go on, the thread waits with a case
// in each. The thread that claims the wait serves one case; the waiter then takes the others back.
//   INV-1  the thread that lets go of the last lock touches nothing of the frame afterwards, and
//          the frame stays until each lock was free once
#pragma once

#include "sync/channel_core.hpp"

#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>

namespace tulle::sync {

template <class Parking> class channel_select {
public:
    using node = case_node<Parking>;
    using core = channel_core<Parking>;

    channel_select() noexcept = default;
    channel_select(channel_select const&) = delete;
    channel_select& operator=(channel_select const&) = delete;

    // Cases are added in the order in which they are to be tried.
    void add(node& n, core& channel, void* item, bool is_send) noexcept {
        n.channel = &channel;
        n.item = item;
        n.is_send = is_send;
        m_cases.push_back(n);
        sort_in(n);
        ++m_count;
    }
    // The case that was done, and how; null: none before the limit was reached. Throws
    // std::bad_alloc: for an unbounded channel.
    [[nodiscard]] node* run(limit<Parking> until, channel_status& status) {
        Parking::schedule_point();
        attempt_result result = try_now();
        for (;;) {
            if (result == attempt_result::needs_block) {
                get_block();
                result = try_now();
            } else if (result == attempt_result::done || until.is_over()) {
                break;
            } else {
                result = wait(until);
                if (result == attempt_result::must_wait) break; // the limit was reached
            }
        }
        status = m_status;
        return result == attempt_result::done ? m_done : nullptr;
    }

    // The select is the guard of its wait.
    void lock() noexcept {
        for (node* n = m_first; n != nullptr; n = n->after)
            if (n->after == nullptr || n->after->channel != n->channel) n->channel->lock.lock();
    }
    void unlock() noexcept {
        for (node* n = m_first; n != nullptr;) { // INV-1
            core* const channel = n->channel;
            n = n->after;
            if (n == nullptr || n->channel != channel) channel->lock.unlock();
        }
    }

private:
    void sort_in(node& n) noexcept {
        node** link = &m_first;
        while (*link != nullptr && std::less<core*>()((*link)->channel, n.channel))
            link = &(*link)->after;
        n.after = *link;
        *link = &n;
    }
    [[nodiscard]] attempt_result try_now() noexcept {
        lock();
        attempt_result const result = attempt_each();
        unlock();
        tidy_up();
        return result;
    }
    // Attempts the cases under all locks; returns the first that can go on.
    [[nodiscard]] attempt_result attempt_each() noexcept {
        for (node& n : m_cases) {
            attempt_result const result = n.channel->attempt(n, m_status, m_woken, m_garbage);
            if (result == attempt_result::must_wait) continue;
            m_done = &n;
            return result;
        }
        return attempt_result::must_wait;
    }
    void tidy_up() noexcept {
        m_woken.resume_all();
        if (m_garbage != nullptr)
            m_done->channel->items().free_block(std::exchange(m_garbage, nullptr));
    }
    void get_block() {
        item_store& items = m_done->channel->items();
        void* surplus = items.make_block();
        {
            std::lock_guard const held(m_done->channel->lock);
            surplus = items.exchange_spare(surplus);
        }
        items.free_block(surplus);
    }
    // must_wait: the limit was reached.
    [[nodiscard]] attempt_result wait(limit<Parking> until) noexcept {
        channel_wait<Parking> self(until);
        attempt_result result = attempt_result::must_wait;
        park(
            reason(), static_cast<waiter<Parking>&>(self), *this,
            [this, &self, &result] { return enter(self, result); }, &self);
        if (result != attempt_result::must_wait) {
            tidy_up();
            return result;
        }
        if (m_count > 1 || self.has_ended()) take_back(); // INV-1
        self.stop();
        if (self.has_ended()) return attempt_result::must_wait;
        m_done = self.chosen;
        m_status = self.status;
        return attempt_result::done;
    }
    [[nodiscard]] bool enter(channel_wait<Parking>& self, attempt_result& result) noexcept {
        result = attempt_each();
        if (result != attempt_result::must_wait) return false;
        for (node* n = m_first; n != nullptr; n = n->after) {
            n->wait = &self;
            n->channel->enqueue(*n);
        }
        return true;
    }
    void take_back() noexcept {
        lock();
        for (node* n = m_first; n != nullptr; n = n->after)
            if (n->linked) n->channel->withdraw(*n);
        unlock();
    }
    [[nodiscard]] wait::wait_reason reason() const noexcept {
        if (m_count != 1) return {wait::wait_kind::channel_select, m_first->channel};
        return {m_first->is_send ? wait::wait_kind::channel_send : wait::wait_kind::channel_receive,
                m_first->channel};
    }

    base::intrusive_queue<&node::next_case> m_cases; // in the order of trying
    node* m_first = nullptr;                         // by addresses
    std::size_t m_count = 0;
    node* m_done = nullptr; // or what needs a block
    channel_status m_status = channel_status::not_ready;
    woken_chain<Parking> m_woken;
    void* m_garbage = nullptr;
};

} // namespace tulle::sync
