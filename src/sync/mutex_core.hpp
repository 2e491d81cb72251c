// SPDX-License-Identifier: Apache-2.0
// What a mutex does when its front (<tulle/detail/mutex_front.hpp>) cannot decide alone: spin,
// queue, wake, hand off.
//   barging    an unlocker frees the mutex and wakes the first waiter, which competes with
//              newcomers. One is on its way at a time.
//   hand-off   a waiter that lost twice, or has waited for a millisecond, gets the mutex from the
//              next unlocker without a contest.
// contended = 1 costs each unlock the queue's lock, and its setting a heavy fence; so it is kept
// for k_quiet unlocks without waiters.
// Without heavy fences it is never taken back, and no thread parks before it is settled, which it
// is once a thread that has seen it has held the mutex: every later holder then sees it, because it
// acquires the mutex from that one.
// Source: asymmetric Dekker synchronization (Dice, Huang and Yang 2001); the throttle is that of
// Dice, "Malthusian locks", doi:10.1145/3064176.3064203.
#pragma once

#include "sync/waits.hpp"

#include <tulle/detail/mutex_front.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace tulle::sync {

// The part that the public header does not show. Under `lock`, but for one word.
template <class Parking> struct mutex_queue {
    template <class T> using atomic = typename Parking::machine::template atomic<T>;

    typename Parking::lock lock;
    std::uint32_t quiet = 0;  // contended unlocks in a row that found nobody
    std::uint32_t passed = 0; // contended unlocks that let a waiter wait
    bool settled = false;     // meaningful while contended
    // false: nobody holds the mutex, though its front looks so. Not under `lock`
    atomic<bool> inherited{false};
    waiter<Parking>* on_its_way = nullptr; // woken, and has neither got the mutex nor queued again
    wait_list<Parking> waiting;
};

template <class Parking> class mutex_core {
public:
    using machine = typename Parking::machine;
    using front_type = detail::basic_mutex_front<typename Parking::front_machine>;
    using node = waiter<Parking>;

    // `kind`: what a waiter is said to wait for; the front is the first member of that.
    mutex_core(front_type& front, mutex_queue<Parking>& queue,
               wait::wait_kind kind = wait::wait_kind::mutex) noexcept
        : m_front(front), m_queue(queue), m_kind(kind) {}

    // Takes a mutex that only seems held: a new one, or one that a deterministic run has freed.
    // Called after try_lock has failed.
    [[nodiscard]] bool take_over() noexcept {
        if (!inherit()) return false;
        if (Parking::is_deterministic()) stay_cold();
        return true;
    }
    // Called after take_over has failed.
    void lock() noexcept {
        if (spin(nullptr)) return;
        node self;
        self.since = Parking::now();
        for (bool again = false; !take_turn(self, again); again = true) {}
    }
    // False: not before the limit was reached.
    [[nodiscard]] bool lock_until(limit<Parking> until) noexcept {
        if (until.is_over()) return false;
        if (spin(nullptr)) return true;
        timed_waiter<Parking> self(until);
        self.since = Parking::now();
        for (bool again = false;; again = true) {
            if (take_turn(self, again)) return true;
            if (self.has_ended() || until.is_over()) return give_up(self);
        }
    }
    // Called after try_unlock; never suspends.
    void unlock(detail::unlock_result how_far) noexcept {
        if (how_far == detail::unlock_result::held_contended) return unlock_contended();
        // Released. Take it again to find waiters; a thread that has it now will see
        // `contended` when it unlocks.
        if (m_front.try_lock_if_free()) unlock_contended();
    }

private:
    using section = std::lock_guard<typename Parking::lock>;
    enum class entry { queued, acquired, unsettled };

    static constexpr std::uint32_t k_quiet = 1000;

    // --- waiters ---------------------------------------------------------------------------------
    [[nodiscard]] static bool is_granted(node const* self) noexcept {
        // relaxed: take_turn takes the queue's lock before it returns, and so comes after what the
        // granter did.
        return self != nullptr && self->state.load(std::memory_order_relaxed) == outcome::granted;
    }
    [[nodiscard]] bool inherit() noexcept {
        // relaxed: the exchange decides
        if (m_queue.inherited.load(std::memory_order_relaxed)) return false;
        // Pairs with the release in set_free.
        return !m_queue.inherited.exchange(true, std::memory_order_acquire);
    }
    // A holder calls this. Its own unlock sees `contended`, and so does that of each later one: it
    // is settled.
    void stay_cold() noexcept {
        section const held(m_queue.lock);
        m_front.contended.store(1, std::memory_order_relaxed); // relaxed: see above
        m_queue.settled = true;
    }
    [[nodiscard]] bool spin(node const* self) noexcept {
        // Time does not pass.
        if (Parking::is_deterministic())
            return is_granted(self) || m_front.try_lock_if_free() || take_over();
        std::uint32_t pauses = 1;
        for (int round = 0; round < Parking::k_spin_rounds; ++round) {
            if (is_granted(self) || m_front.try_lock_if_free()) return true;
            if (Parking::has_ready_threads()) return false;
            for (std::uint32_t k = 0; k < pauses; ++k) machine::pause();
            pauses = std::min(2 * pauses, Parking::k_most_pauses);
        }
        return false;
    }
    // One wait and one contest. True: the caller holds the mutex.
    template <class Node> [[nodiscard]] bool take_turn(Node& self, bool again) noexcept {
        entry result = entry::queued;
        auto const enter_queue = [this, &self, &result] {
            return (result = enter(self)) == entry::queued;
        };
        if (!park_in_queue(self, again, enter_queue)) return false;
        if (result == entry::acquired) return true;
        if (!spin(&self)) return false;
        section const held(m_queue.lock);
        if (m_queue.on_its_way == &self) m_queue.on_its_way = nullptr;
        m_queue.settled = true; // it has seen `contended` under this lock
        return true;
    }
    template <class Enter>
    [[nodiscard]] bool park_in_queue(node& self, bool again, Enter enter_queue) noexcept {
        park({m_kind, &m_front, again}, self, m_queue.lock, enter_queue);
        return true;
    }
    template <class Enter>
    [[nodiscard]] bool park_in_queue(timed_waiter<Parking>& self, bool again,
                                     Enter enter_queue) noexcept {
        return park_until({m_kind, &m_front, again}, self, m_queue.lock, m_queue.waiting,
                          enter_queue, [] {});
    }

    // Called under the queue's lock, with the caller suspended.
    [[nodiscard]] entry enter(node& self) noexcept {
        if (is_granted(&self)) return entry::acquired;
        if (m_queue.on_its_way == &self) {
            m_queue.on_its_way = nullptr;
            ++self.tries;
        }
        announce();                                                  // B1
        if (m_front.try_lock() || inherit()) return entry::acquired; // B2
        if (!m_queue.settled) return entry::unsettled;
        // relaxed: published by the lock
        self.state.store(outcome::waiting, std::memory_order_relaxed);
        if (self.tries == 0)
            m_queue.waiting.push_back(self);
        else
            m_queue.waiting.push_front(self);
        return entry::queued;
    }
    void announce() noexcept {
        // relaxed: written under this lock
        if (m_front.contended.load(std::memory_order_relaxed) != 0) return;
        // B1; relaxed: the heavy fence follows, or it is not settled yet.
        m_front.contended.store(1, std::memory_order_relaxed);
        m_queue.quiet = 0;
        m_queue.settled = Parking::has_heavy_fence();
        if (m_queue.settled) machine::heavy_fence();
    }
    // The limit has been reached. True: the caller has got the mutex all the same.
    [[nodiscard]] bool give_up(node& self) noexcept {
        {
            section const held(m_queue.lock);
            if (is_granted(&self)) return true;
            if (m_queue.on_its_way != &self) return false;
            m_queue.on_its_way = nullptr;
            // Otherwise the holder wakes the next one.
            if (m_queue.waiting.empty() || !(m_front.try_lock() || inherit())) return false;
        }
        unlock_contended();
        return false;
    }

    // --- unlockers: the caller holds the mutex ---------------------------------------------------
    void unlock_contended() noexcept {
        m_queue.lock.lock();
        node* const candidate =
            m_queue.on_its_way != nullptr ? m_queue.on_its_way : m_queue.waiting.first();
        if (candidate == nullptr)
            note_quiet();
        else if (is_overdue(*candidate))
            return hand_off();
        node* const woken = m_queue.on_its_way == nullptr ? m_queue.waiting.pop_front() : nullptr;
        if (woken != nullptr) m_queue.on_its_way = woken;
        release(woken);
    }
    // Frees the mutex and the queue; `woken`, if any, is resumed.
    void release(node* woken) noexcept {
        auto const thread = woken != nullptr ? woken->thread : nullptr;
        set_free();
        m_queue.lock.unlock();
        if (thread != nullptr) Parking::resume(thread);
    }
    void set_free() noexcept {
        if (Parking::is_deterministic())
            // Pairs with the acquire in inherit.
            m_queue.inherited.store(false, std::memory_order_release);
        else
            // Pairs with the acquire in mutex_front::try_lock.
            m_front.free.store(1, std::memory_order_release);
    }
    // The mutex stays held, by the one on its way or the first in the queue.
    void hand_off() noexcept {
        node* const awake = m_queue.on_its_way;
        node* const heir = awake != nullptr ? awake : m_queue.waiting.pop_front();
        if (heir == nullptr) return release(nullptr); // all had timed out
        auto const thread = heir->thread;
        m_queue.on_its_way = nullptr;
        // relaxed: the heir takes the queue's lock next
        heir->state.store(outcome::granted, std::memory_order_relaxed);
        m_queue.lock.unlock();
        if (awake == nullptr) Parking::resume(thread);
    }
    [[nodiscard]] bool is_overdue(node const& w) noexcept {
        m_queue.quiet = 0;
        if (w.tries >= Parking::k_most_tries) return true;
        return ++m_queue.passed % Parking::k_passed_per_clock == 0 &&
               Parking::now() - w.since >= Parking::k_longest_wait_ns;
    }
    void note_quiet() noexcept {
        if (Parking::is_deterministic() || !Parking::has_heavy_fence() || ++m_queue.quiet < k_quiet)
            return;
        m_front.contended.store(0,
                                // relaxed: a thread that misses it takes the queue's lock once more
                                std::memory_order_relaxed);
    }

    front_type& m_front;
    mutex_queue<Parking>& m_queue;
    wait::wait_kind m_kind;
};

} // namespace tulle::sync
