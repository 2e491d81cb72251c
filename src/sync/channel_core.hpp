// SPDX-License-Identifier: Apache-2.0
// A queue of items between threads. All under the lock of the channel:
//   INV-1  receivers wait only while there are no items, senders only while there is no room
//   INV-2  so never both, but in cases of one and the same thread
// A thread that finds another one waiting, and can serve it, hands the item over in that thread's
// frame. A thread waits for several channels at once by a case in each; the first that claims its
// wait, by compare-and-swap, serves it, and cases of a wait that is over are passed over.
#pragma once

#include "base/intrusive_list.hpp"
#include "sync/item_store.hpp"
#include "sync/waits.hpp"

#include <tulle/detail/channel_calls.hpp>

#include <mutex>

namespace tulle::sync {

template <class Parking> class channel_core;
template <class Parking> struct case_node;

// The wait of a thread, one for all its cases. It lies in the thread's frame.
template <class Parking> struct channel_wait : timed_waiter<Parking> {
    using timed_waiter<Parking>::timed_waiter;

    case_node<Parking>* chosen = nullptr; // set by the thread that has claimed the wait
    channel_status status = channel_status::not_ready;
};

template <class Parking> struct case_node {
    channel_core<Parking>* channel = nullptr;
    void* item = nullptr;
    channel_wait<Parking>* wait = nullptr;
    case_node* next = nullptr; // in the channel's list
    case_node* prev = nullptr;
    case_node* after = nullptr;     // of the same thread, by addresses of channels
    case_node* next_case = nullptr; // of the same thread, in the order of trying
    bool is_send = false;
    bool linked = false;
};

template <class Parking> class case_list {
public:
    using node = case_node<Parking>;

    void push_back(node& n) noexcept {
        m_cases.push_back(n);
        n.linked = true;
    }
    void unlink(node& n) noexcept {
        m_cases.remove(n);
        n.linked = false;
    }
    // Takes the first case whose wait the caller could end; the caller must resume it. Null: none.
    [[nodiscard]] node* claim() noexcept {
        while (node* const n = m_cases.first()) {
            unlink(*n);
            if (!n->wait->try_wake()) continue;
            n->wait->chosen = n;
            return n;
        }
        return nullptr;
    }

private:
    base::intrusive_list<&node::next, &node::prev> m_cases;
};

enum class attempt_result { done, must_wait, needs_block };

template <class Parking> class channel_core {
public:
    using node = case_node<Parking>;
    using chain = woken_chain<Parking>;

    channel_core(detail::item_type const& type, std::size_t capacity) : m_items(type, capacity) {}

    typename Parking::lock lock;

    // --- under the lock --------------------------------------------------------------------------
    // `status` is written if it is done; threads in `woken` are to be resumed, and `garbage` to be
    // freed, without the lock.
    [[nodiscard]] attempt_result attempt(node const& n, channel_status& status, chain& woken,
                                         void*& garbage) noexcept {
        return n.is_send ? attempt_send(n.item, status, woken)
                         : attempt_receive(n.item, status, woken, garbage);
    }
    void enqueue(node& n) noexcept { (n.is_send ? m_senders : m_receivers).push_back(n); }
    void withdraw(node& n) noexcept { (n.is_send ? m_senders : m_receivers).unlink(n); }
    [[nodiscard]] item_store& items() noexcept { return m_items; }

    // --- without ---------------------------------------------------------------------------------
    // False: it was closed already.
    [[nodiscard]] bool close() noexcept {
        Parking::schedule_point();
        chain woken;
        {
            std::lock_guard const held(lock);
            if (m_is_closed) return false;
            m_is_closed = true;
            end_all(m_receivers, woken);
            end_all(m_senders, woken);
        }
        woken.resume_all();
        return true;
    }
    [[nodiscard]] bool is_closed() noexcept {
        std::lock_guard const held(lock);
        return m_is_closed;
    }
    [[nodiscard]] std::size_t size() noexcept {
        std::lock_guard const held(lock);
        return m_items.count();
    }
    // Reports call this; the lock is not taken.
    [[nodiscard]] item_store const& seen_items() const noexcept { return m_items; }

private:
    [[nodiscard]] attempt_result attempt_send(void* item, channel_status& status,
                                              chain& woken) noexcept {
        if (m_is_closed) return done(status, channel_status::closed);
        if (node* const receiver = m_receivers.claim()) { // INV-1: no items
            move(receiver->item, item);
            serve(*receiver, channel_status::success, woken);
            return done(status, channel_status::success);
        }
        if (m_items.is_full()) return attempt_result::must_wait;
        if (m_items.needs_block()) return attempt_result::needs_block;
        move(m_items.add_back(), item);
        return done(status, channel_status::success);
    }
    [[nodiscard]] attempt_result attempt_receive(void* item, channel_status& status, chain& woken,
                                                 void*& garbage) noexcept {
        if (m_items.count() != 0) {
            take_front(item, garbage);
            // INV-1: there is room now.
            if (node* const sender = m_senders.claim())
                take_over(*sender, m_items.add_back(), woken);
            return done(status, channel_status::success);
        }
        if (node* const sender = m_senders.claim()) { // without a buffer
            take_over(*sender, item, woken);
            return done(status, channel_status::success);
        }
        return m_is_closed ? done(status, channel_status::closed) : attempt_result::must_wait;
    }
    [[nodiscard]] static attempt_result done(channel_status& status, channel_status how) noexcept {
        status = how;
        return attempt_result::done;
    }
    void take_front(void* target, void*& garbage) noexcept {
        void* const oldest = m_items.front();
        move(target, oldest);
        m_items.type().destroy(oldest, m_items.type().size);
        garbage = m_items.drop_front();
    }
    void take_over(node& sender, void* target, chain& woken) noexcept {
        move(target, sender.item);
        serve(sender, channel_status::success, woken);
    }
    void move(void* target, void* source) noexcept {
        m_items.type().move(target, source, m_items.type().size);
    }
    static void serve(node& n, channel_status status, chain& woken) noexcept {
        n.wait->status = status;
        woken.add(*n.wait);
    }
    static void end_all(case_list<Parking>& list, chain& woken) noexcept {
        while (node* const n = list.claim()) serve(*n, channel_status::closed, woken);
    }

    bool m_is_closed = false;
    item_store m_items;
    case_list<Parking> m_senders;
    case_list<Parking> m_receivers;
};

} // namespace tulle::sync
