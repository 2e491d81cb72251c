// SPDX-License-Identifier: Apache-2.0
// Full/empty states by address: a table of one-word slots (word_chain.hpp). A word that no slot speaks of is full and has no waiters.
// A slot is its own lock: exchange for k_slot_locked, which is harmless when it is locked already; a release store writes the new value. Neither
// state nor value of a word changes without it, so an uncontended operation is one exchange and one store.
// read_ff takes no lock: slot, value, slot again. If the slot says the same twice, the value was that of a full word at an instant in between: a
// slot's value has no history, so it does no harm if the word was emptied and filled meanwhile.
// 128 MiB of addresses map onto the slots one to one, so that dense arrays share no slots, and the table is touched only where words are. Each
// such region is turned by a number of pages of its own, so that equal offsets in two regions seldom meet.
#pragma once

#include "sync/word_chain.hpp"
#include "sync/word_change.hpp"
#include "sync/word_wait.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace tulle::sync {

template <class Parking> class full_empty_table {
    using machine = typename Parking::machine;

public:
    using slot_type = typename machine::template atomic<slot_value>;

    // `count` slots, a power of two, all zero.
    full_empty_table(slot_type* slots, std::size_t count) noexcept : m_slots(slots), m_mask(count - 1) {}

    [[nodiscard]] slot_type& slot_of(std::uintptr_t address) const noexcept {
        std::uintptr_t const turn = ((address >> k_region_shift) * 0x9E3779B97F4A7C15U) >> 40U;
        return m_slots[((address >> 3U) + (turn << k_page_shift)) & m_mask];
    }

    // Takes the lock; what the slot said.
    [[nodiscard]] static slot_value lock(slot_type& s) noexcept {
        slot_value const before = s.exchange(k_slot_locked, std::memory_order_acquire); // pairs with the release of who unlocks
        return before != k_slot_locked ? before : lock_contended(s);
    }

private:
    static constexpr unsigned k_page_shift = 9;    // slots in a page of memory
    static constexpr unsigned k_region_shift = 27; // bytes for which a table of 2^24 slots has one each
    static constexpr unsigned k_spins_per_yield = 128;

    [[nodiscard]] static slot_value lock_contended(slot_type& s) noexcept {
        for (unsigned spins = 1;; ++spins) {
            // relaxed: only a hint when to try again.
            while (s.load(std::memory_order_relaxed) == k_slot_locked) {
                if (spins++ % k_spins_per_yield == 0)
                    machine::yield_processor();
                else
                    machine::pause();
            }
            slot_value const before = s.exchange(k_slot_locked, std::memory_order_acquire); // as in lock
            if (before != k_slot_locked) return before;
        }
    }

    slot_type* m_slots;
    std::uintptr_t m_mask;
};

// A word with its slot: the Home of word_wait.hpp.
template <class Parking, class Cell> class word_home {
public:
    using table = full_empty_table<Parking>;
    using slot_type = typename table::slot_type;

    word_home(slot_type& s, Cell cell) noexcept : m_slot(s), m_cell(cell) {}
    ~word_home() {
        delete m_spare;
        delete m_unused;
    }
    word_home(word_home const&) = delete;
    word_home& operator=(word_home const&) = delete;

    void lock() noexcept { m_head = table::lock(m_slot); }
    void adopt_lock(slot_value before) noexcept { m_head = before; }
    void unlock() noexcept { m_slot.store(m_head, std::memory_order_release); } // pairs with lock

    [[nodiscard]] word_result attempt(feb_operation what, void* place) noexcept {
        word_chain<Parking> chain(m_head, m_cell.address());
        bool const was_full = chain.is_full();
        // Even if writers wait: their time may be up.
        if (was_full && empties(what) && !chain.has_room() && m_spare == nullptr) return word_result::no_memory;
        word_change<Parking, Cell> change(m_cell, was_full, chain.waiting(), m_wakes);
        if (!change.apply(what, place)) return word_result::waits;
        if (was_full && !change.is_full()) chain.set_empty(m_spare);
        if (!was_full && change.is_full()) m_unused = chain.set_full();
        chain.set_queue(change.settle());
        return word_result::done;
    }
    void enqueue(word_waiter<Parking>& w) noexcept {
        word_chain<Parking> chain(m_head, m_cell.address());
        word_queue<Parking>* q = chain.waiting();
        if (q == nullptr) {
            q = &w.own;
            chain.add_queue(*q, w);
        }
        q->list_of(w).push_back(w);
    }
    void withdraw(word_waiter<Parking>& w) noexcept {
        word_chain<Parking> chain(m_head, m_cell.address());
        word_queue_change<Parking> change(chain.waiting());
        change.remove(w);
        chain.set_queue(change.settle());
    }
    // For one more granule with empty words.
    [[nodiscard]] bool get_memory() noexcept {
        m_spare = new (std::nothrow) word_tally;
        return m_spare != nullptr;
    }
    void wake(void const* place) noexcept { m_wakes.wake_all(m_cell, place); }
    // Under the lock.
    [[nodiscard]] bool is_full() noexcept { return word_chain<Parking>(m_head, m_cell.address()).is_full(); }
    [[nodiscard]] word_queue<Parking>* waiting() noexcept { return word_chain<Parking>(m_head, m_cell.address()).waiting(); }

private:
    slot_type& m_slot;
    Cell m_cell;
    slot_value m_head = 0; // meaningful with the lock held
    word_tally* m_spare = nullptr;
    word_tally* m_unused = nullptr;
    word_wakes<Parking> m_wakes;
};

// The operations on one word. Cell has besides: address(), load() and store(value), which acquire and release.
template <class Parking, class Cell> class full_empty_word {
public:
    using value = typename Cell::value_type;
    using table = full_empty_table<Parking>;
    using slot_type = typename table::slot_type;

    full_empty_word(table const& of, Cell cell) noexcept : m_cell(cell), m_address(cell.address()), m_slot(of.slot_of(m_address)) {}

    // waits: only with a deadline.
    [[nodiscard]] word_result read_ff(value& to, std::uint64_t deadline) noexcept {
        if (read_unlocked(to)) return word_result::done;
        return perform(feb_operation::read_ff, to, deadline);
    }
    [[nodiscard]] word_result read_fe(value& to, std::uint64_t deadline) noexcept {
        slot_value const before = table::lock(m_slot);
        if (before != 0) return perform_locked(before, feb_operation::read_fe, to, deadline);
        to = m_cell.load();
        m_slot.store(slot::marks_of(m_address), std::memory_order_release); // pairs with lock
        return word_result::done;
    }
    [[nodiscard]] word_result write_ef(value from, std::uint64_t deadline) noexcept {
        slot_value const before = table::lock(m_slot);
        if (before != slot::marks_of(m_address)) return perform_locked(before, feb_operation::write_ef, from, deadline);
        m_cell.store(from);
        m_slot.store(0, std::memory_order_release); // pairs with lock
        return word_result::done;
    }
    [[nodiscard]] word_result empty() noexcept { return exchange(0, slot::marks_of(m_address), feb_operation::empty); }
    [[nodiscard]] word_result fill() noexcept { return exchange(slot::marks_of(m_address), 0, feb_operation::fill); }
    // Any of them.
    [[nodiscard]] word_result perform(feb_operation what, value& v, std::uint64_t deadline) noexcept {
        word_home<Parking, Cell> home(m_slot, m_cell);
        return word_wait<Parking, word_home<Parking, Cell>>(home, pointer()).perform(what, &v, deadline);
    }

    [[nodiscard]] bool is_full() noexcept {
        slot_value const now = m_slot.load(std::memory_order_acquire); // pairs with who unlocks: the state as it is after the change
        if (now != k_slot_locked && !slot::is_chain(now)) return !slot::says_empty(now, m_address);
        return locked([](auto& home) { return home.is_full(); });
    }
    // Calls visit(waiter const&) for each that waits, under the slot's lock; in no particular order.
    template <class F> void visit_waiting(F visit) noexcept {
        locked([&visit](auto& home) {
            word_queue<Parking> const* const q = home.waiting();
            if (q == nullptr) return;
            for (wait_list<Parking> const* list : {&q->readers, &q->hasty, &q->others})
                for (waiter<Parking> const* w = list->first(); w != nullptr; w = w->next)
                    visit(static_cast<word_waiter<Parking> const&>(*w));
        });
    }

private:
    [[nodiscard]] void const* pointer() const noexcept { return reinterpret_cast<void const*>(m_address); }

    // The value is loaded with acquire, and stored with release under the lock. So if a writer's value is seen, its lock is seen by the second
    // look, which need not be ordered more than that.
    [[nodiscard]] bool read_unlocked(value& to) noexcept {
        for (;;) {
            slot_value const before = m_slot.load(std::memory_order_acquire); // pairs with who unlocks
            if (before == k_slot_locked || slot::is_chain(before) || slot::says_empty(before, m_address)) return false;
            to = m_cell.load();
            if (m_slot.load(std::memory_order_relaxed) == before) return true; // relaxed: see above
        }
    }
    // release pairs with lock; acquire: what the one before did to the word comes first for those who see this change, too.
    [[nodiscard]] word_result exchange(slot_value from, slot_value to, feb_operation what) noexcept {
        if (m_slot.compare_exchange_strong(from, to, std::memory_order_acq_rel, std::memory_order_relaxed)) return word_result::done;
        value ignored{};
        return perform(what, ignored, 0);
    }
    [[nodiscard]] word_result perform_locked(slot_value before, feb_operation what, value& v, std::uint64_t deadline) noexcept {
        word_home<Parking, Cell> home(m_slot, m_cell);
        home.adopt_lock(before);
        return word_wait<Parking, word_home<Parking, Cell>>(home, pointer()).perform_locked(what, &v, deadline);
    }
    template <class F> auto locked(F look) noexcept {
        word_home<Parking, Cell> home(m_slot, m_cell);
        home.lock();
        struct unlocking {
            word_home<Parking, Cell>& home;
            ~unlocking() { home.unlock(); }
        } const until_the_end{home};
        return look(home);
    }

    Cell m_cell;
    std::uintptr_t m_address;
    slot_type& m_slot;
};

} // namespace tulle::sync
