// SPDX-License-Identifier: Apache-2.0
// What an operation does to a full/empty word and to those who wait for it
// (src/sync/full_empty.md). The caller holds the word's lock, applies, writes back state and
// queue, lets go of the lock, and only then wakes.
//
// Cell: where the value is. copy_out, move_out (to a place), copy_in, move_in (from a place), pass
// (to a place, a copy of what is in another).
// A place is a value in somebody's frame.
#pragma once

#include "sync/word_queue.hpp"

#include <atomic>

namespace tulle::sync {

// Those whose waits are over, to be woken without the lock.
template <class Parking> class word_wakes {
public:
    using node = word_waiter<Parking>;

    // It has its value.
    void add(node& w) noexcept { m_served.add(w); }
    void add_readers(node* first) noexcept { m_readers = first; }

    // `place`: what the readers have waited for. After resume a node is gone.
    template <class Cell> void wake_all(Cell const& cell, void const* place) noexcept {
        m_served.resume_all();
        while (node* const r = node::from(m_readers)) {
            m_readers = r->next.load();
            cell.pass(r->place, place);
            // relaxed: resume and suspend order it
            r->state.store(outcome::woken, std::memory_order_relaxed);
            Parking::resume(r->thread);
        }
    }

private:
    woken_chain<Parking> m_served;
    waiter<Parking>* m_readers = nullptr;
};

// An empty word is filled, and `taker`, the only one that waits for it, empties it: only it is to
// be resumed then.
template <class Parking, class Cell>
void pass_on(Cell const& cell, feb_operation what, void* place,
             word_waiter<Parking>& taker) noexcept {
    if (what != feb_operation::fill) cell.move_in(place);
    cell.move_out(taker.place);
    taker.linked = false;
    // relaxed: resume and suspend order it
    taker.state.store(outcome::woken, std::memory_order_relaxed);
}

template <class Parking, class Cell> class word_change {
public:
    using queue = word_queue<Parking>;
    using node = word_waiter<Parking>;

    word_change(Cell cell, bool full, queue* waiting, word_wakes<Parking>& wakes) noexcept
        : m_cell(cell), m_full(full), m_waiting(waiting), m_wakes(wakes) {}

    [[nodiscard]] bool is_full() const noexcept { return m_full; }
    [[nodiscard]] queue* settle() noexcept { return m_waiting.settle(); }

    // False: it must wait, nothing was done. `place` is valid for each operation; after `fill`,
    // what is in it goes to readers.
    [[nodiscard]] bool apply(feb_operation what, void* place) noexcept {
        switch (what) {
            case feb_operation::read_ff: return m_full && read(place);
            case feb_operation::read_fe: return m_full && take(place);
            case feb_operation::write_ff: return m_full && write_full(place);
            case feb_operation::write_ef: return !m_full && write_empty(place);
            case feb_operation::write_f: return m_full ? write_full(place) : write_empty(place);
            case feb_operation::fill: return m_full || fill(place);
            case feb_operation::empty: return !m_full || become_empty();
            case feb_operation::purge: return write_full(place) && (!m_full || become_empty());
        }
        return true;
    }

private:
    bool read(void* place) noexcept {
        m_cell.copy_out(place);
        return true;
    }
    bool take(void* place) noexcept {
        m_cell.move_out(place);
        return become_empty();
    }
    // Without a change of the state.
    bool write_full(void* place) noexcept {
        m_cell.move_in(place);
        return true;
    }
    bool write_empty(void* place) noexcept {
        m_waiting.has_readers() ? m_cell.copy_in(place) : m_cell.move_in(place);
        return become_full(place);
    }
    bool fill(void* place) noexcept {
        if (m_waiting.has_readers()) m_cell.copy_out(place);
        return become_full(place);
    }

    // All readers get what is in `place`; then the others in turn, until one takes the value away.
    bool become_full(void const* place) noexcept {
        m_full = true;
        m_wakes.add_readers(m_waiting.take_readers());
        while (node* const w = m_waiting.pop_hasty()) {
            m_cell.pass(w->place, place);
            m_wakes.add(*w);
        }
        while (m_full) {
            node* const w = m_waiting.pop_other();
            if (w == nullptr) break;
            serve(*w);
        }
        return true;
    }
    void serve(node& w) noexcept {
        m_full = w.wants == feb_operation::write_ff;
        m_full ? m_cell.move_in(w.place) : m_cell.move_out(w.place);
        m_wakes.add(w);
    }
    // The first writer that waits fills it again.
    bool become_empty() noexcept {
        m_full = false;
        if (node* const w = m_waiting.pop_other()) {
            m_full = true;
            m_cell.move_in(w->place);
            m_wakes.add(*w);
        }
        return true;
    }

    Cell m_cell;
    bool m_full;
    word_queue_change<Parking> m_waiting;
    word_wakes<Parking>& m_wakes;
};

} // namespace tulle::sync
