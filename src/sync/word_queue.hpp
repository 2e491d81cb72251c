// SPDX-License-Identifier: Apache-2.0
// The threads that wait for the state of one full/empty word. The queue lies in the frame of one of
// its waiters, the host, so that waiting takes no memory; when the host leaves, the queue moves
// into the frame of another. All under the lock of the word.
//   INV-1  while the word is empty, others has read_fe and write_ff; while it is full, others has
//          write_ef, and nobody reads
//   INV-2  a queue that can be reached has a waiter, and its host is one
#pragma once

#include "sync/waits.hpp"

#include <tulle/detail/feb_operation.hpp>

#include <cstdint>
#include <new>
#include <type_traits>

namespace tulle::sync {

using detail::feb_operation;

template <class Parking> struct word_waiter;

template <class Parking> struct word_queue {
    using node = word_waiter<Parking>;

    std::uintptr_t next = 0;    // the rest of what the word's slot says
    std::uintptr_t address = 0; // of the word
    node* host = nullptr;
    wait_list<Parking> readers; // read_ff without a deadline: taken all at once, however many wait
    wait_list<Parking> timed_readers; // read_ff with a deadline
    wait_list<Parking> others;

    [[nodiscard]] bool empty() const noexcept {
        return readers.empty() && timed_readers.empty() && others.empty();
    }
    [[nodiscard]] wait_list<Parking>& list_of(node const& w) noexcept;
    // The waiter, if it is the only one and waits to take the value, without a limit.
    [[nodiscard]] node* only_taker() const noexcept;
    template <class F> void visit(F visit_one) const noexcept;
};

// A waiter. It lies in the frame of the thread that waits.
template <class Parking> struct word_waiter : waiter<Parking> {
    word_waiter() noexcept {} // without `own`: most never host
    ~word_waiter() {}

    feb_operation wants{};
    void* buffer = nullptr; // in the same frame: where the value comes from, or goes to
    union {
        word_queue<Parking> own; // since make_own()
    };

    // `like`: what it begins as.
    [[nodiscard]] word_queue<Parking>* make_own(word_queue<Parking> const& like = {}) noexcept {
        return new (&own) word_queue<Parking>(like);
    }
    [[nodiscard]] static word_waiter* from(waiter<Parking>* w) noexcept {
        return static_cast<word_waiter*>(w);
    }
    [[nodiscard]] bool is_plain_reader() const noexcept {
        return wants == feb_operation::read_ff && !this->timed;
    }
};

template <class Parking> wait_list<Parking>& word_queue<Parking>::list_of(node const& w) noexcept {
    if (w.wants != feb_operation::read_ff) return others;
    return w.timed ? timed_readers : readers;
}

template <class Parking> word_waiter<Parking>* word_queue<Parking>::only_taker() const noexcept {
    bool const is_alone = readers.empty() && timed_readers.empty() &&
                          host->next.load() == nullptr && host->prev.load() == nullptr;
    return is_alone && host->wants == feb_operation::read_fe && !host->timed ? host : nullptr;
}

// Calls visit_one(waiter const&) for each, in no particular order.
template <class Parking>
template <class F>
void word_queue<Parking>::visit(F visit_one) const noexcept {
    for (wait_list<Parking> const* list : {&readers, &timed_readers, &others})
        for (waiter<Parking> const* w = list->first(); w != nullptr; w = w->next.load())
            visit_one(*w);
}

// A change of a word's queue: takes waiters out, and keeps the queue in a frame where it may stay.
template <class Parking> class word_queue_change {
public:
    using queue = word_queue<Parking>;
    using node = word_waiter<Parking>;

    explicit word_queue_change(queue* changed) noexcept : m_queue(changed) {} // null: nobody waits

    [[nodiscard]] bool has_readers() const noexcept {
        return m_queue != nullptr && !(m_queue->readers.empty() && m_queue->timed_readers.empty());
    }
    // Takes the next reader whose wait the caller could end. Null: none.
    [[nodiscard]] node* pop_timed_reader() noexcept {
        return m_queue == nullptr ? nullptr : pop(m_queue->timed_readers);
    }
    [[nodiscard]] node* pop_other() noexcept {
        return m_queue == nullptr ? nullptr : pop(m_queue->others);
    }
    // Linked by `next`; each of them must be resumed.
    [[nodiscard]] node* take_readers() noexcept {
        if (m_queue == nullptr) return nullptr;
        node* const first = node::from(m_queue->readers.first());
        static_cast<void>(m_queue->readers.take_all());
        m_host_left = m_host_left || m_queue->host->is_plain_reader();
        return first;
    }
    void remove(node& w) noexcept { leave(m_queue->list_of(w), w); }
    // Where the queue is from now on. Null: nobody waits any longer. INV-2
    [[nodiscard]] queue* settle() noexcept {
        if (m_queue == nullptr || m_queue->empty()) return nullptr;
        return m_host_left ? move_to(first_waiter()) : m_queue;
    }

private:
    // Takes the first waiter whose time is not up. Those whose time is up leave the list, too.
    [[nodiscard]] node* pop(wait_list<Parking>& list) noexcept {
        while (node* const w = node::from(list.first())) {
            leave(list, *w);
            if (w->try_wake()) return w;
        }
        return nullptr;
    }
    void leave(wait_list<Parking>& list, node& w) noexcept {
        list.unlink(w);
        m_host_left = m_host_left || m_queue->host == &w;
    }
    [[nodiscard]] node& first_waiter() const noexcept {
        auto const& q = *m_queue;
        return *node::from(!q.others.empty()          ? q.others.first()
                           : !q.timed_readers.empty() ? q.timed_readers.first()
                                                      : q.readers.first());
    }
    [[nodiscard]] queue* move_to(node& w) noexcept {
        queue* const moved = w.make_own(*m_queue);
        moved->host = &w;
        return moved;
    }

    queue* m_queue;
    bool m_host_left = false;
};

} // namespace tulle::sync
