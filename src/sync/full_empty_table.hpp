// SPDX-License-Identifier: Apache-2.0
// Full/empty states by address: a table of one-word slots (word_chain.hpp). A word that no slot
// speaks of is full and has no waiters.
// A slot is its own lock: exchange for k_slot_locked, which is harmless when it is locked already;
// a release store writes the new value. Neither state nor value of a word changes without it, so an
// uncontended operation is one exchange and one store.
// read_ff takes no lock: the slot says that the word is full, the value, and no word of the slot
// has been emptied since (a count, beside). To read the slot twice is not enough: an empty word
// belongs to the thread that has emptied it, and may hold anything until it is filled again.
// 128 MiB of addresses map onto the slots one to one, so that dense arrays share no slots, and the
// table is touched only where words are. Each such region is turned by a number of pages of its
// own, so that equal offsets in two regions seldom meet.
#pragma once

#include "base/rng.hpp"
#include "sync/word_chain.hpp"
#include "sync/word_change.hpp"
#include "sync/word_wait.hpp"

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/spin_wait.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace tulle::sync {

template <class Parking> class full_empty_table {
public:
    using machine = typename Parking::machine;
    using slot_type = typename machine::template atomic<slot_value>;
    using count_type = typename machine::template atomic<std::uint32_t>;

    // `count` of both, a power of two, all zero.
    constexpr full_empty_table(slot_type* slots, count_type* emptyings, std::size_t count) noexcept
        : m_slots(slots), m_emptyings(emptyings), m_mask(count - 1) {}

    [[nodiscard]] slot_type* slots() const noexcept { return m_slots; }
    [[nodiscard]] std::size_t count() const noexcept { return m_mask + 1; }

    struct bucket {
        slot_type& slot;
        count_type& emptyings;
    };
    [[nodiscard]] bucket bucket_of(std::uintptr_t address) const noexcept {
        std::uintptr_t const turn = ((address >> k_region_shift) * base::k_golden_ratio) >> 40U;
        std::uintptr_t const index = ((address >> 3U) + (turn << k_page_shift)) & m_mask;
        return {m_slots[index], m_emptyings[index]};
    }

    // Takes the lock, and returns what the slot said.
    [[nodiscard]] static slot_value lock(slot_type& s) noexcept {
        // Pairs with the release by which the slot is unlocked.
        slot_value const before = s.exchange(k_slot_locked, std::memory_order_acquire);
        return before != k_slot_locked ? before : lock_contended(s);
    }

    // Called with the lock held, before a full word may become empty. relaxed: written under the
    // lock. release pairs with B0 of full_empty_word::read_unlocked: a reader that sees the count
    // sees the lock, or what came of it.
    static void count_emptying(count_type& emptyings) noexcept {
        emptyings.store(emptyings.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

    // Called in a child process, which has one thread: the thread that had locked the slot is not
    // there, and nobody waits. What a slot said that was locked is not known; its words are full
    // from now on.
    static void repair(slot_type& s) noexcept {
        slot_value head = s.load(std::memory_order_relaxed); // relaxed, both: there is one thread
        if (head == 0) return;
        if (head == k_slot_locked) head = 0;
        drop_queues(head);
        s.store(head, std::memory_order_relaxed);
    }

private:
    static constexpr unsigned k_page_shift = 9; // slots in a page of memory
    // Bytes for which a table of 2^24 slots has one each.
    static constexpr unsigned k_region_shift = 27;

    static void drop_queues(slot_value& head) noexcept {
        slot_value* link = &head;
        while (slot::is_chain(*link)) {
            if ((*link & slot::k_kind) == slot::k_queue)
                *link = slot::pointer_in<word_queue<Parking>>(*link)->next;
            else
                link = &slot::pointer_in<word_tally>(*link)->next;
        }
    }
    [[nodiscard]] static slot_value lock_contended(slot_type& s) noexcept {
        for (detail::spin_wait<machine> wait;;) {
            // relaxed: only a hint when to try again.
            while (s.load(std::memory_order_relaxed) == k_slot_locked) wait.step();
            // acquire: as in lock.
            slot_value const before = s.exchange(k_slot_locked, std::memory_order_acquire);
            if (before != k_slot_locked) return before;
        }
    }

    slot_type* m_slots;
    count_type* m_emptyings;
    std::uintptr_t m_mask;
};

// A word with its slot: the Home of word_wait.hpp.
template <class Parking, class Cell> class word_home {
public:
    using table = full_empty_table<Parking>;
    static constexpr bool k_has_owner = true;
    static constexpr bool k_is_lock = Cell::k_is_lock;

    word_home(typename table::bucket bucket, Cell cell) noexcept : m_bucket(bucket), m_cell(cell) {}
    ~word_home() {
        delete m_spare;
        delete m_unused;
    }
    word_home(word_home const&) = delete;
    word_home& operator=(word_home const&) = delete;

    void lock() noexcept { m_head = table::lock(m_bucket.slot); }
    void adopt_lock(slot_value before) noexcept { m_head = before; }
    // Pairs with lock.
    void unlock() noexcept { m_bucket.slot.store(m_head, std::memory_order_release); }

    [[nodiscard]] word_result attempt(feb_operation operation, void* buffer) noexcept {
        word_chain<Parking> chain(m_head, m_cell.address());
        bool const was_full = chain.is_full();
        // Even if writers wait: their time may be up.
        if (was_full && empties(operation) && !chain.has_room() && m_spare == nullptr)
            return word_result::no_memory;
        if (was_full && empties(operation)) table::count_emptying(m_bucket.emptyings);
        word_change<Parking, Cell> change(m_cell, was_full, chain.waiting(), m_wakes);
        if (!change.apply(operation, buffer)) return word_result::waits;
        if (was_full && !change.is_full()) chain.set_empty(m_spare);
        if (!was_full && change.is_full()) m_unused = chain.set_full();
        chain.set_queue(change.settle());
        return word_result::done;
    }
    void enqueue(word_waiter<Parking>& w) noexcept {
        word_chain<Parking> chain(m_head, m_cell.address());
        word_queue<Parking>* q = chain.waiting();
        if (q == nullptr) q = chain.add_queue(w);
        q->list_of(w).push_back(w);
    }
    // Enqueues a waiter that must wait where no other word has a part in the slot, and no other
    // thread waits. False: nothing was done.
    [[nodiscard]] bool enqueue_first(word_waiter<Parking>& w) noexcept {
        slot_value const wrong = needs_full(w.wants) ? slot::marks_of(m_cell.address()) : 0;
        if (m_head != wrong || !(needs_full(w.wants) || w.wants == feb_operation::write_ef))
            return false;
        slot::add_queue(m_head, m_cell.address(), w).list_of(w).push_back(w);
        return true;
    }
    void withdraw(word_waiter<Parking>& w) noexcept {
        word_chain<Parking> chain(m_head, m_cell.address());
        word_queue_change<Parking> change(chain.waiting());
        change.remove(w);
        chain.set_queue(change.settle());
    }
    // Gets the memory to note one more granule with empty words.
    [[nodiscard]] bool get_memory() noexcept {
        m_spare = new (std::nothrow) word_tally;
        return m_spare != nullptr;
    }
    void wake(void const* buffer) noexcept { m_wakes.wake_all(m_cell, buffer); }
    // The caller holds the lock.
    [[nodiscard]] bool is_full() noexcept {
        return word_chain<Parking>(m_head, m_cell.address()).is_full();
    }
    [[nodiscard]] word_queue<Parking>* waiting() noexcept {
        return word_chain<Parking>(m_head, m_cell.address()).waiting();
    }

private:
    typename table::bucket m_bucket;
    Cell m_cell;
    slot_value m_head = 0; // meaningful with the lock held
    word_tally* m_spare = nullptr;
    word_tally* m_unused = nullptr;
    word_wakes<Parking> m_wakes;
};

// The operations on one word. Cell has besides: address(), load() and store(value), which acquire
// and release.
template <class Parking, class Cell> class full_empty_word {
    using machine = typename Parking::machine;

public:
    using value = typename Cell::value_type;
    using table = full_empty_table<Parking>;

    full_empty_word(table const& states, Cell cell) noexcept
        : m_cell(cell), m_address(cell.address()), m_bucket(states.bucket_of(m_address)) {}

    // word_result::waits is returned only with a limit.
    [[nodiscard]] word_result read_ff(value& out, limit<Parking> until) noexcept {
        if (read_unlocked(out)) return word_result::done;
        return perform(feb_operation::read_ff, out, until);
    }
    [[nodiscard]] word_result read_fe(value& out, limit<Parking> until) noexcept {
        if (looks_like(slot::marks_of(m_address))) return wait(feb_operation::read_fe, out, until);
        slot_value const before = table::lock(m_bucket.slot);
        if (before != 0) return perform_locked(before, feb_operation::read_fe, out, until);
        out = m_cell.load();
        empty_locked();
        return word_result::done;
    }
    [[nodiscard]] word_result write_ef(value written, limit<Parking> until) noexcept {
        if (looks_like(0)) return wait(feb_operation::write_ef, written, until);
        slot_value const before = table::lock(m_bucket.slot);
        if (before != slot::marks_of(m_address))
            return perform_locked(before, feb_operation::write_ef, written, until);
        m_cell.store(written);
        m_bucket.slot.store(0, std::memory_order_release); // pairs with lock
        return word_result::done;
    }
    [[nodiscard]] word_result empty() noexcept {
        value ignored{};
        slot_value const before = table::lock(m_bucket.slot);
        if (before != 0) return perform_locked(before, feb_operation::empty, ignored, 0);
        empty_locked();
        return word_result::done;
    }
    [[nodiscard]] word_result fill() noexcept {
        value scratch{};
        slot_value const before = table::lock(m_bucket.slot);
        // Nobody waits; the word is the only empty one of the slot, or there is none.
        if (before != slot::marks_of(m_address) && before != 0)
            return perform_locked(before, feb_operation::fill, scratch, 0);
        m_bucket.slot.store(0, std::memory_order_release); // pairs with lock
        return word_result::done;
    }
    // Of a word that is a lock, and has no value: reads the full word and empties it, or fills the
    // empty one, where no other word has a part in the slot, and nobody waits. False: nothing was
    // done. No emptying is counted, as nobody reads a value.
    // relaxed, both: where it fails.
    [[nodiscard]] bool take_alone() noexcept {
        static_assert(Cell::k_is_lock);
        slot_value seen = 0;
        // Pairs with give_back_alone, and with the release by which the slot is unlocked.
        return m_bucket.slot.compare_exchange_strong(
            seen, slot::marks_of(m_address), std::memory_order_acquire, std::memory_order_relaxed);
    }
    [[nodiscard]] bool give_back_alone() noexcept {
        static_assert(Cell::k_is_lock);
        slot_value seen = slot::marks_of(m_address);
        // Pairs with take_alone, and with table::lock.
        return m_bucket.slot.compare_exchange_strong(seen, 0, std::memory_order_release,
                                                     std::memory_order_relaxed);
    }
    // Performs any operation.
    [[nodiscard]] TULLE_COLD word_result perform(feb_operation operation, value& v,
                                                 limit<Parking> until) noexcept {
        word_home<Parking, Cell> home(m_bucket, m_cell);
        return word_wait<Parking, word_home<Parking, Cell>>(home, pointer())
            .perform(operation, &v, until);
    }

    [[nodiscard]] bool is_full() noexcept {
        // Pairs with the unlock: the state as it is after the change.
        slot_value const now = m_bucket.slot.load(std::memory_order_acquire);
        if (now != k_slot_locked && !slot::is_chain(now)) return !slot::says_empty(now, m_address);
        return locked([](auto& home) { return home.is_full(); });
    }
    // Calls visit(waiter const&) for each that waits, under the slot's lock.
    template <class F> void visit_waiting(F visit) noexcept {
        locked([&visit](auto& home) {
            if (word_queue<Parking> const* const q = home.waiting()) q->visit(visit);
        });
    }

private:
    [[nodiscard]] void const* pointer() const noexcept {
        return reinterpret_cast<void const*>(m_address);
    }

    // B0 the count, B1 the slot says full, B2 the value, B3 the count again
    // A1 the count, A2 the slot says empty, release fence, A3 its owner writes
    // B2 acquires: if the value is that of A3 or of a later operation, B3 sees A1.
    [[nodiscard]] bool read_unlocked(value& out) noexcept {
        if (!Parking::k_may_read_unlocked) return false;
        for (;;) {
            // B0; pairs with A1: B1 is not older.
            std::uint32_t const before = m_bucket.emptyings.load(std::memory_order_acquire);
            // B1; pairs with the unlock.
            slot_value const now = m_bucket.slot.load(std::memory_order_acquire);
            if (now != 0 &&
                (now == k_slot_locked || slot::is_chain(now) || slot::says_empty(now, m_address)))
                return false;
            out = m_cell.load(); // B2
            // B3; relaxed: see above.
            if (m_bucket.emptyings.load(std::memory_order_relaxed) == before) return true;
        }
    }
    void empty_locked() noexcept {
        table::count_emptying(m_bucket.emptyings); // A1
        // A2; pairs with lock.
        m_bucket.slot.store(slot::marks_of(m_address), std::memory_order_release);
        machine::fence(std::memory_order_release); // pairs with B2
    }
    // A hint that saves an attempt in vain. relaxed: a waiter checks again under the lock.
    [[nodiscard]] bool looks_like(slot_value v) const noexcept {
        return m_bucket.slot.load(std::memory_order_relaxed) == v;
    }
    [[nodiscard]] TULLE_NOINLINE word_result wait(feb_operation operation, value& v,
                                                  limit<Parking> until) noexcept {
        word_home<Parking, Cell> home(m_bucket, m_cell);
        return word_wait<Parking, word_home<Parking, Cell>>(home, pointer())
            .wait(operation, &v, until);
    }
    [[nodiscard]] TULLE_NOINLINE word_result perform_locked(slot_value before,
                                                            feb_operation operation, value& v,
                                                            limit<Parking> until) noexcept {
        return fills(operation) && hand_over(before, operation, v)
                   ? word_result::done
                   : perform_with_waits(before, operation, v, until);
    }
    // A value that is filled in goes to the only thread that waits to take it. False: nothing was
    // done.
    [[nodiscard]] bool hand_over(slot_value before, feb_operation operation, value& v) noexcept {
        word_waiter<Parking>* const taker = slot::only_taker<Parking>(before, m_address);
        if (taker == nullptr) return false;
        pass_on(m_cell, operation, &v, *taker);
        m_bucket.slot.store(slot::marks_of(m_address),
                            std::memory_order_release); // pairs with lock
        Parking::resume(taker->thread);
        return true;
    }
    [[nodiscard]] TULLE_NOINLINE word_result perform_with_waits(slot_value before,
                                                                feb_operation operation, value& v,
                                                                limit<Parking> until) noexcept {
        word_home<Parking, Cell> home(m_bucket, m_cell);
        home.adopt_lock(before);
        return word_wait<Parking, word_home<Parking, Cell>>(home, pointer())
            .perform_locked(operation, &v, until);
    }
    template <class F> auto locked(F read) noexcept {
        word_home<Parking, Cell> home(m_bucket, m_cell);
        home.lock();
        struct unlocking {
            word_home<Parking, Cell>& home;
            ~unlocking() { home.unlock(); }
        } const until_the_end{home};
        return read(home);
    }

    Cell m_cell;
    std::uintptr_t m_address;
    typename table::bucket m_bucket;
};

} // namespace tulle::sync
