// SPDX-License-Identifier: Apache-2.0
// Asymmetric split deque of records: the owner forks and joins with plain stores
// (detail/deque_front.hpp), thieves take the oldest.
//   [base, tail) stolen   [tail, split) shared   [split, head) the owner's
// A thief that finds nothing shared moves `split` over half of the owner's part, makes every thread
// pass a full fence (membarrier), reads `head` again and corrects `split`. Protocol, invariants,
// proof sketch: README.md.
// Deviates from Lace's split deque (doi:10.1007/978-3-319-14313-2_16) in that the thief moves the
// split, so an owner that only computes loses nothing to starvation; the fence on the thief's side
// follows Dice, Huang and Yang's asymmetric Dekker synchronization.
// deque_owner: the thread whose stack the deque belongs to. deque_thief: anyone.
#pragma once

#include "base/assert.hpp"
#include "base/spin_lock.hpp"

#include <tulle/detail/deque_front.hpp>

#include <cstddef>

namespace tulle::deque {

// A machine may name a smaller one for the part that public headers see.
template <class Machine> struct front_machine_of { using type = Machine; };
template <class Machine>
requires requires { typename Machine::front_machine; }
struct front_machine_of<Machine> {
    using type = typename Machine::front_machine;
};

// INV-1 base <= tail <= split under the lock. INV-2 outside a thief's membarrier, split <=
// max(head, tail).
// INV-3 the owner never writes a slot below split, but for its own under the lock. INV-4 slots are
// stolen oldest first.
template <class Machine, class Slot>
class split_deque
    : public detail::basic_deque_front<typename front_machine_of<Machine>::type, Slot> {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    // `asymmetric`: the machine has heavy_fence(). If not, each publish takes the cold path and
    // shares at once (deque_owner::share_all).
    void open(Slot* slots, std::size_t count, bool asymmetric) noexcept {
        m_base = slots;
        m_last = slots + (count - 1);
        m_asymmetric = asymmetric;
        // relaxed: not shared yet; published by the code that hands the deque out
        this->head.store(slots, std::memory_order_relaxed);
        this->split.store(slots, std::memory_order_relaxed);
        m_tail.store(slots, std::memory_order_relaxed);
        clear_wake_flag();
    }

    // Empties a deque that open() was called for and whose owner has gone. Under the lock: a thief
    // may still be in it, between D1 and D2, and would share what the next owner takes back.
    void reopen(bool asymmetric) noexcept {
        m_lock.lock();
        m_asymmetric = asymmetric;
        this->head.store(m_base, std::memory_order_relaxed); // relaxed: as in open
        this->split.store(m_base, std::memory_order_relaxed);
        m_tail.store(m_base, std::memory_order_relaxed);
        clear_wake_flag();
        m_lock.unlock();
    }

    // A hint, for anyone: the deque holds records that a thief could take. relaxed:
    // deque_thief::steal decides under the lock.
    [[nodiscard]] bool looks_stealable() const noexcept {
        Slot* const shared = this->split.load(std::memory_order_relaxed);
        return m_tail.load(std::memory_order_relaxed) < shared ||
               this->head.load(std::memory_order_relaxed) > shared;
    }

    // B1: sets the wake flag, so that the owner's next publish takes the cold path. A worker that
    // goes to sleep calls this before its heavy fence. relaxed: the heavy fence follows.
    void set_wake_flag() noexcept { this->limit.store(m_base, std::memory_order_relaxed); }
    // The owner clears the wake flag in the cold path. Without asymmetry every publish must come
    // here, so the flag stays set. relaxed: a worker that has set it again is found by the check
    // for sleepers that follows.
    void clear_wake_flag() noexcept {
        this->limit.store(m_asymmetric ? m_last : m_base, std::memory_order_relaxed);
    }

    [[nodiscard]] bool is_full(Slot* slot) const noexcept { return slot >= m_last; }
    [[nodiscard]] bool is_asymmetric() const noexcept { return m_asymmetric; }
    [[nodiscard]] Slot* base() const noexcept { return m_base; }
    [[nodiscard]] std::size_t capacity() const noexcept {
        return static_cast<std::size_t>(m_last - m_base);
    }
    // The owner asks whether there are no forked threads that were not joined yet.
    [[nodiscard]] bool is_empty() const noexcept { return this->top() == m_base; }

    // The owner locks it while the process is forked: no thief is in the middle of anything. The
    // first slot that is not stolen is m_tail.
    void lock_for_process_fork() noexcept { m_lock.lock(); }
    void unlock_after_process_fork() noexcept { m_lock.unlock(); }
    // relaxed: by the owner, after that
    [[nodiscard]] Slot* stolen_end() const noexcept {
        return m_tail.load(std::memory_order_relaxed);
    }

    // Called under the lock, hence relaxed.
    void check_invariants() const noexcept {
        TULLE_ASSERT(m_base <= m_tail.load(std::memory_order_relaxed),
                     "tail below the base of its deque");
        TULLE_ASSERT(m_tail.load(std::memory_order_relaxed) <=
                         this->split.load(std::memory_order_relaxed),
                     "tail above split");
    }

private:
    template <class, class> friend class deque_owner;
    template <class, class> friend class deque_thief;

    alignas(64) base::basic_spin_lock<Machine> m_lock; // guards split and tail
    atomic<Slot*> m_tail{nullptr};                     // oldest slot that is not stolen
    Slot* m_base = nullptr;
    // The slot that is never used, so that `limit` can be compared after publishing.
    Slot* m_last = nullptr;
    bool m_asymmetric = true;
};

enum class reclaim_result {
    mine,  // the owner runs it
    stolen // a thief has it; wait for its state, then settle()
};

// The view of the owner: what it does when the fast path fails.
template <class Machine, class Slot> class deque_owner {
public:
    using deque_type = split_deque<Machine, Slot>;
    explicit deque_owner(deque_type& deque) noexcept : m_deque(deque) {}

    // Takes the youngest slot back, after retract() failed: head may already be at `slot`.
    // `keep_shared`: what is left is joined through the cold path only (see reclaim_below).
    // relaxed, here and in the other functions of the owner: thieves read these words under the
    // lock, or as hints.
    [[nodiscard]] reclaim_result reclaim(Slot* slot, bool keep_shared = false) noexcept {
        guard const held(m_deque.m_lock);
        m_deque.check_invariants();
        Slot* const tail = m_deque.m_tail.load(std::memory_order_relaxed);
        if (slot < tail) {
            empty_at(slot + 1); // INV-4: everything older is stolen, too
            return reclaim_result::stolen;
        }
        m_deque.head.store(slot, std::memory_order_relaxed);
        if (slot < m_deque.split.load(std::memory_order_relaxed)) {
            // Keep half of the older ones private, if a thief could get at them.
            bool const all_shared = keep_shared || !m_deque.m_asymmetric;
            m_deque.split.store(all_shared ? slot : tail + (slot - tail) / 2,
                                std::memory_order_relaxed);
        }
        return reclaim_result::mine;
    }
    // Takes a slot back that has younger ones above it. On `mine` the slot stays where it is; the
    // caller leaves a record in it that may be stolen idly.
    // The younger ones become shared, so that their joins come to reclaim(), after which the caller
    // takes idle records off.
    template <class Replace>
    [[nodiscard]] reclaim_result reclaim_below(Slot* slot, Replace replace) noexcept {
        guard const held(m_deque.m_lock);
        // relaxed: as in reclaim
        bool const stolen = slot < m_deque.m_tail.load(std::memory_order_relaxed);
        replace(stolen);
        // Ordered by the lock: the owner itself moves it.
        m_deque.split.store(m_deque.top(), std::memory_order_relaxed);
        return stolen ? reclaim_result::stolen : reclaim_result::mine;
    }
    // The youngest slot was stolen and is done: it may be used again.
    void settle(Slot* slot) noexcept {
        guard const held(m_deque.m_lock);
        empty_at(slot);
    }
    // Called where there are no heavy fences: all that is published is shared. relaxed: ordered by
    // the lock.
    void share_all() noexcept {
        guard const held(m_deque.m_lock);
        m_deque.split.store(m_deque.top(), std::memory_order_relaxed);
    }

private:
    struct guard {
        explicit guard(base::basic_spin_lock<Machine>& l) noexcept : lock(l) { lock.lock(); }
        ~guard() { lock.unlock(); }
        guard(guard const&) = delete;
        guard& operator=(guard const&) = delete;
        base::basic_spin_lock<Machine>& lock;
    };
    // relaxed: ordered by the lock, as in reclaim.
    void empty_at(Slot* slot) noexcept {
        m_deque.head.store(slot, std::memory_order_relaxed);
        m_deque.m_tail.store(slot, std::memory_order_relaxed);
        m_deque.split.store(slot, std::memory_order_relaxed);
    }

    deque_type& m_deque;
};

// The view of all others.
template <class Machine, class Slot> class deque_thief {
public:
    using deque_type = split_deque<Machine, Slot>;
    explicit deque_thief(deque_type& deque) noexcept : m_deque(deque) {}

    // Takes the oldest slot. Null: the deque is empty, or another thread is at it. What the owner
    // wrote into the slot happens before the return.
    [[nodiscard]] Slot* steal() noexcept {
        if (!m_deque.looks_stealable() || m_deque.m_lock.looks_held() || !m_deque.m_lock.try_lock())
            return nullptr;
        Slot* const slot = take_oldest();
        m_deque.m_lock.unlock();
        return slot;
    }

private:
    Slot* take_oldest() noexcept {
        m_deque.check_invariants();
        Slot* const tail = m_deque.m_tail.load(std::memory_order_relaxed);
        if (tail >= m_deque.split.load(std::memory_order_relaxed) && !share()) return nullptr;
        m_deque.m_tail.store(tail + 1, std::memory_order_relaxed); // INV-4
        return tail;
    }
    // Moves split over half of the owner's part. True: something is shared now.
    bool share() noexcept {
        if (!m_deque.m_asymmetric) return false;
        Slot* const split = m_deque.split.load(std::memory_order_relaxed);
        // relaxed: a guess, read again below
        Slot* const head = m_deque.head.load(std::memory_order_relaxed);
        if (head <= split) return false;
        Slot* const wanted = split + (head - split + 1) / 2;
        m_deque.split.store(wanted, std::memory_order_relaxed); // D1
        // The owner either has stored a lower head, seen at D2, or will see the split, at C2.
        Machine::heavy_fence();
        // D2; pairs with the release in publish (A1)
        Slot* const seen = m_deque.head.load(std::memory_order_acquire);
        if (seen < wanted)
            m_deque.split.store(seen > split ? seen : split, std::memory_order_relaxed);
        return (seen < wanted ? seen : wanted) > split;
    }

    deque_type& m_deque;
};

} // namespace tulle::deque
