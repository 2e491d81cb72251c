// SPDX-License-Identifier: Apache-2.0
// The ready threads of one worker, first in first out. The owner pays for plain stores; thieves for
// a membarrier (deque/biased_lock.hpp), and only where it pays: two threads or more, or one that
// has been waiting since the thief's last visit.
#pragma once

#include "base/debug_access.hpp"
#include "deque/biased_lock.hpp"
#include "os/machine.hpp"
#include "sched/fiber.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tulle::sched {

template <class Machine> class basic_ready_queue {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    explicit basic_ready_queue(bool asymmetric) noexcept : m_lock(asymmetric) {}

    // --- owner -----------------------------------------------------------------------------------
    void push_back(runnable& r) noexcept {
        owner_section const held(m_lock);
        m_list.push_back(r);
        count(r, 1);
    }
    void push_front(runnable& r) noexcept {
        owner_section const held(m_lock);
        m_list.push_front(r);
        count(r, 1);
    }
    [[nodiscard]] runnable* pop() noexcept {
        if (looks_empty()) return nullptr;
        owner_section const held(m_lock);
        runnable* const r = m_list.pop_front();
        if (r == nullptr) return nullptr;
        count_pop(*r);
        prefetch_next(*r);
        return r;
    }
    // Takes the next one out and returns it, if it is of this kind; else it stays.
    [[nodiscard]] runnable* pop_if(runnable_kind kind) noexcept {
        runnable* const r = begin_pop(kind);
        if (r != nullptr) m_lock.owner_unlock();
        return r;
    }

    // Takes `r` out if it is the next one.
    [[nodiscard]] bool remove_next(runnable const& r) noexcept {
        if (looks_empty()) return false;
        owner_section const held(m_lock);
        if (m_list.first() != &r) return false;
        m_list.pop_front();
        count_pop(r);
        return true;
    }
    // Takes out those for which `is_wanted` returns true.
    template <class Predicate> [[nodiscard]] runnable_list extract(Predicate is_wanted) noexcept {
        if (looks_empty()) return {};
        owner_section const held(m_lock);
        return m_list.extract(is_wanted, [this](runnable const& r) { count_pop(r); });
    }

    // yield() calls this: it takes the next one, and puts `self` at the end. Null: none of this
    // kind. Otherwise the queue stays locked, so that nobody takes `self` before its registers are
    // saved; the next context unlocks it.
    [[nodiscard]] runnable* begin_rotation(runnable& self, runnable_kind kind) noexcept {
        runnable* const next = lock_and_pop(kind);
        if (next == nullptr) return nullptr;
        m_list.push_back(self);
        if (next->bound != self.bound) count_bound_change(self);
        // relaxed: under the lock; to thieves a hint.
        m_pops.store(m_pops.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return next;
    }
    // Likewise: puts `self` before all others,
    void begin_push_front(runnable& self) noexcept {
        m_lock.owner_lock();
        m_list.push_front(self);
        count(self, 1);
    }
    // and takes the next one. Null: none of this kind, and the queue is not locked.
    [[nodiscard]] runnable* begin_pop(runnable_kind kind) noexcept {
        runnable* const next = lock_and_pop(kind);
        if (next != nullptr) count_pop(*next);
        return next;
    }
    // What the next context does after any of the three.
    void end_switch() noexcept { m_lock.owner_unlock(); }

    // --- thieves ---------------------------------------------------------------------------------
    // Takes up to half, the oldest first, at most k_most_stolen; bound ones stay with the owner.
    // `own`: how many the thief has itself; it takes nothing from an owner that gets on and has
    // less than twice as many, as the two would only change sides. `seen` is the thief's note of
    // this victim's progress from the last visit, and is brought up to date.
    [[nodiscard]] runnable_list steal(std::uint32_t& seen, std::uint32_t own) noexcept {
        runnable_list taken;
        std::uint32_t const count = m_stealable.load(std::memory_order_relaxed); // relaxed: a hint
        std::uint32_t const pops = m_pops.load(std::memory_order_relaxed);
        bool const stale = seen == pops;
        seen = pops;
        bool const is_worth_it = stale ? count != 0 : count >= std::max(2U, 2 * own);
        if (!is_worth_it || !m_lock.stranger_try_lock()) return taken;
        take(taken);
        m_lock.stranger_unlock();
        return taken;
    }

    // The bound one, which only the owner would take; null: it is not here, or the owner is in the
    // middle of a change.
    [[nodiscard]] runnable* steal_bound() noexcept {
        if (!has_bound()) return nullptr;
        if (!m_lock.stranger_try_lock()) return nullptr;
        runnable_list others;
        runnable* found = nullptr;
        while (runnable* const r = m_list.pop_front()) {
            if (r->bound && found == nullptr)
                found = r;
            else
                others.push_back(*r);
        }
        m_list = others;
        if (found != nullptr) count(*found, ~std::uint32_t{0});
        m_lock.stranger_unlock();
        return found;
    }

    // Hints; relaxed: decisions are made under the lock.
    [[nodiscard]] std::uint32_t size() const noexcept {
        return m_count.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool looks_empty() const noexcept {
        return m_count.load(std::memory_order_relaxed) == 0;
    }
    [[nodiscard]] bool has_stealable() const noexcept {
        return m_stealable.load(std::memory_order_relaxed) != 0;
    }
    [[nodiscard]] bool has_bound() const noexcept {
        return m_count.load(std::memory_order_relaxed) !=
               m_stealable.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint32_t size_hint() const noexcept {
        return m_count.load(std::memory_order_relaxed);
    }

private:
    friend struct base::debug_access;
    static constexpr std::uint32_t k_most_stolen = 32;

    struct owner_section {
        explicit owner_section(deque::biased_lock<Machine>& l) noexcept : lock(l) {
            lock.owner_lock();
        }
        ~owner_section() { lock.owner_unlock(); }
        owner_section(owner_section const&) = delete;
        owner_section& operator=(owner_section const&) = delete;
        deque::biased_lock<Machine>& lock;
    };
    // The next one, not counted as gone yet; the queue is locked then. Null: it is not.
    [[nodiscard]] TULLE_INLINE runnable* lock_and_pop(runnable_kind kind) noexcept {
        if (looks_empty()) return nullptr;
        m_lock.owner_lock();
        runnable* const next = m_list.first();
        if (next != nullptr && next->kind == kind) return m_list.pop_front();
        m_lock.owner_unlock();
        return nullptr;
    }
    // A thread that waited long is cold: fetch the stack of the next one, and the fiber of the one
    // after it.
    static void prefetch_next(runnable const& r) noexcept {
        if (r.next == nullptr) return;
        __builtin_prefetch(r.next->next);
        if (r.next->kind == runnable_kind::fiber)
            static_cast<fiber const*>(r.next)->prefetch_stack();
    }
    // The caller holds the lock, so there is one writer at a time, hence load and store. `sign`: 1
    // or all ones.
    void count(runnable const& r, std::uint32_t sign) noexcept {
        m_count.store(m_count.load(std::memory_order_relaxed) + sign, std::memory_order_relaxed);
        if (!r.bound)
            m_stealable.store(m_stealable.load(std::memory_order_relaxed) + sign,
                              std::memory_order_relaxed);
    }
    // relaxed, here and below: under the lock; to others they are hints.
    void count_down_stealable() noexcept {
        m_stealable.store(m_stealable.load(std::memory_order_relaxed) - 1,
                          std::memory_order_relaxed);
    }
    // One went and `pushed` came, of which one is bound.
    void count_bound_change(runnable const& pushed) noexcept {
        std::uint32_t const change = pushed.bound ? ~std::uint32_t{0} : 1;
        m_stealable.store(m_stealable.load(std::memory_order_relaxed) + change,
                          std::memory_order_relaxed);
    }
    void count_pop(runnable const& r) noexcept {
        count(r, ~std::uint32_t{0});
        m_pops.store(m_pops.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    void take(runnable_list& taken) noexcept {
        runnable_list kept;
        std::uint32_t wanted = (m_stealable.load(std::memory_order_relaxed) + 1) / 2;
        if (wanted > k_most_stolen) wanted = k_most_stolen;
        while (wanted != 0) {
            runnable* const r = m_list.pop_front();
            if (r == nullptr) break;
            (r->bound ? kept : taken).push_back(*r);
            if (r->bound) continue;
            count(*r, ~std::uint32_t{0});
            --wanted;
        }
        kept.append(m_list);
        m_list = kept;
    }

    deque::biased_lock<Machine> m_lock;
    runnable_list m_list;
    atomic<std::uint32_t> m_count{0};
    atomic<std::uint32_t> m_stealable{0}; // without the bound one
    atomic<std::uint32_t> m_pops{0};      // how often the owner has taken one
};

using ready_queue = basic_ready_queue<os::machine>;

} // namespace tulle::sched
