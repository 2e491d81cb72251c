// SPDX-License-Identifier: Apache-2.0
// Which workers sleep, and how many search: an event count over workers. A worker without work
// searches for a while, announces that it will sleep, makes every thread of the process pass a full
// fence, checks once more, and sleeps on its own futex. A thread that makes work reads two counters
// after a compiler barrier, and pays for a wake only when some worker sleeps and none searches.
//   maker    G1 publish work; light fence; G2 load counters
//   sleeper  H1 count itself asleep; heavy fence; H2 check for work
// Either the maker sees the sleeper at G2, or the sleeper sees the work at H2. Where makers make
// fences, the sleeper's own does (sleep_steps.hpp). A searcher counts as one that will still
// check: it either finds work, and then passes H2 on behalf of the sleepers if it was the last
// searcher, or passes H1 and H2 itself.
// A watcher, which runs no threads, may ask to be told when work is made and no worker is there
// that could take it (watch_work), or when the last sleeper has been woken (watch_sleepers). Its
// two bits stand in the count of sleepers, so that makers of work need to read nothing else.
// After the Go scheduler's rule for spinning Ms and the event counts of D. Vyukov; the asymmetric
// fence is ours.
#pragma once

#include "base/debug_access.hpp"
#include "base/intrusive_list.hpp"
#include "base/spin_lock.hpp"
#include "base/waker.hpp"

#include <cstdint>

namespace tulle::park {

// The sleeper of one worker. m_signal: 0 until a waker has taken the worker off the list. Guarded
// by the set's lock, except by the worker itself once the signal has come.
template <class Machine> class sleeper {
    template <class T> using atomic = typename Machine::template atomic<T>;
    template <class T> using plain = typename Machine::template plain<T>;
    template <class> friend class idle_set;
    friend struct base::debug_access;

    atomic<std::uint32_t> m_signal{0};
    plain<sleeper*> m_next{nullptr};
    plain<bool> m_listed{false};
    plain<void*> m_handoff{nullptr}; // direct handoff: work that the waker has given to this worker
    plain<base::waker*> m_elsewhere{nullptr}; // null: it sleeps on m_signal
};

enum class sleep_result { woken, timed_out };

template <class Machine> class idle_set {
    template <class T> using atomic = typename Machine::template atomic<T>;
    template <class T> using plain = typename Machine::template plain<T>;

public:
    using sleeper_type = sleeper<Machine>;

    // --- makers of work: any thread --------------------------------------------------------------
    // Called after work was published and a light fence: whether wake_one() is due. relaxed: the
    // sleeper's heavy fence orders it.
    [[nodiscard]] bool wake_is_due() const noexcept {
        return m_sleeping.load(std::memory_order_relaxed) != 0 &&
               m_searching.load(std::memory_order_relaxed) == 0;
    }
    // relaxed: as in wake_is_due(); after end_search, see there.
    [[nodiscard]] bool somebody_sleeps() const noexcept { return sleeping() != 0; }
    // Wakes the worker that went to sleep last; it counts as searching from now on. False: nobody
    // slept, and the watcher has been told.
    bool wake_one() noexcept {
        return take_newest([this](sleeper_type& chosen) { send_to_search(chosen); });
    }
    // Wakes this very worker. False: it does not sleep.
    bool wake(sleeper_type& chosen) noexcept {
        return take(chosen, [this](sleeper_type& s) { send_to_search(s); });
    }
    // The next two are direct handoffs: they wake a worker with a piece of work that nobody else
    // can see. The sleeper starts it at once, without a search, and the others need not be told
    // that a searcher is gone, for it never was one. False: nobody sleeps, or not this one; the
    // caller keeps the work.
    bool hand_over(void* handoff) noexcept {
        return take_newest([handoff](sleeper_type& chosen) { chosen.m_handoff.store(handoff); });
    }
    bool hand_over(sleeper_type& chosen, void* handoff) noexcept {
        return take(chosen, [handoff](sleeper_type& s) { s.m_handoff.store(handoff); });
    }

    // --- the worker itself -----------------------------------------------------------------------
    // relaxed: the worker searches after it, and before it sleeps again it passes H1 and H2. As a
    // read-modify-write it stays in the release sequences of announce.
    void begin_search() noexcept { m_searching.fetch_add(1, std::memory_order_relaxed); }
    // Work was found. True: it was the last searcher and somebody sleeps. Then, after a heavy
    // fence, check again as before a sleep, and wake the next if there is more: makers that saw a
    // searcher at G2 have told nobody.
    // acquire pairs with the release in announce: a worker that finds itself the last one sees all
    // that have gone to sleep before.
    [[nodiscard]] bool end_search() noexcept {
        return m_searching.fetch_sub(1, std::memory_order_acquire) == 1 && somebody_sleeps();
    }
    // H1: from searching to asleep. The caller then makes a fence (sleep_steps.hpp), checks for
    // work, and either withdraws or sleeps.
    void announce(sleeper_type& self) noexcept {
        self.m_signal.store(0, std::memory_order_relaxed); // relaxed: published by the lock
        self.m_elsewhere.store(nullptr);
        m_lock.lock();
        m_listed.push(self);
        self.m_listed.store(true);
        // relaxed: before the next line, and for makers before the heavy fence
        m_sleeping.fetch_add(1, std::memory_order_relaxed);
        m_searching.fetch_sub(1, std::memory_order_release); // pairs with end_search
        m_lock.unlock();
    }
    // Back to searching, also when a waker has been here already; take_handoff() is called next.
    void withdraw(sleeper_type& self) noexcept {
        m_lock.lock();
        if (self.m_listed.load()) {
            send_to_search(self);
            unlist(self);
        }
        m_lock.unlock();
    }
    // From announced to busy: the worker has found work of its own, which it need not search for.
    // False: a waker was faster, and it searches, or take_handoff() has work for it.
    [[nodiscard]] bool leave(sleeper_type& self) noexcept {
        m_lock.lock();
        bool const listed = self.m_listed.load();
        if (listed) unlist(self);
        m_lock.unlock();
        return listed;
    }
    // Called after sleep or withdraw. Not null: work of a direct handoff; the caller does not count
    // as searching.
    [[nodiscard]] void* take_handoff(sleeper_type& self) noexcept {
        void* const handoff = self.m_handoff.load();
        if (handoff != nullptr) self.m_handoff.store(nullptr);
        return handoff;
    }
    // Sleeps until woken or the deadline (ns, monotonic). The caller is searching afterwards,
    // unless it got a direct handoff.
    sleep_result sleep(sleeper_type& self, std::uint64_t deadline) noexcept {
        while (!is_woken(self)) {
            if (Machine::futex_wait(self.m_signal, 0, deadline)) continue;
            withdraw(self);
            return sleep_result::timed_out;
        }
        return sleep_result::woken;
    }
    // The parts of a sleep, for a worker that does not sleep on its futex all the time. It stays
    // announced until it is woken, or withdraws.
    [[nodiscard]] bool is_woken(sleeper_type& self) const noexcept {
        // acquire pairs with the release in unlist: what the waker made is visible.
        return self.m_signal.load(std::memory_order_acquire) != 0;
    }
    void doze(sleeper_type& self, std::uint64_t deadline) noexcept {
        static_cast<void>(Machine::futex_wait(self.m_signal, 0, deadline));
    }
    // From now on wakers call `elsewhere` (null: on its futex again). False: it has been woken.
    [[nodiscard]] bool sleeps_elsewhere(sleeper_type& self, base::waker* elsewhere) noexcept {
        m_lock.lock();
        bool const listed = self.m_listed.load();
        if (listed) self.m_elsewhere.store(elsewhere);
        m_lock.unlock();
        return listed;
    }

    // Work was made that only some workers may take, and none of these sleeps.
    void tell_watcher() noexcept {
        // relaxed, both: the watcher checks everything again, and sleeps for a while at most.
        if ((m_sleeping.load(std::memory_order_relaxed) & k_watches_work) == 0) return;
        if ((m_sleeping.fetch_and(k_count, std::memory_order_relaxed) & k_watches_work) != 0)
            wake_watcher();
    }

    // --- the watcher -----------------------------------------------------------------------------
    // From now on the next maker of work that finds nobody asleep or searching wakes it. relaxed:
    // it sleeps for a while at most, and checks.
    void watch_work() noexcept { m_sleeping.fetch_or(k_watches_work, std::memory_order_relaxed); }
    // The watcher calls this: from now on it is woken when the last sleeper is. False: nobody
    // sleeps. Both are changes of one word, so one of the two sides sees the other. relaxed:
    // nothing else is passed on.
    [[nodiscard]] bool watch_sleepers() noexcept {
        return (m_sleeping.fetch_or(k_watches_sleepers, std::memory_order_relaxed) & k_count) != 0;
    }
    // Sleeps until it is told, or the deadline (ns, monotonic). Nothing is watched afterwards.
    // Returns what it has been told of; 0: nothing.
    std::uint32_t sleep_as_watcher(std::uint64_t deadline) noexcept {
        // relaxed: the exchange below reads it again
        if (m_told.load(std::memory_order_relaxed) == 0)
            static_cast<void>(Machine::futex_wait(m_told, 0, deadline));
        // relaxed: the watcher checks everything next
        m_sleeping.fetch_and(k_count, std::memory_order_relaxed);
        return m_told.exchange(0, std::memory_order_acquire); // pairs with wake_watcher
    }
    static constexpr std::uint32_t k_told_of_workers = 1, k_told_of_deadline = 2;
    // release pairs with sleep_as_watcher. A read-modify-write, so that what an earlier caller has
    // written is passed on, too, before the watcher has checked. The first caller wakes it.
    void wake_watcher(std::uint32_t reason = k_told_of_workers) noexcept {
        if (m_told.fetch_or(reason, std::memory_order_release) == 0) Machine::futex_wake(m_told, 1);
    }

    // Snapshots; relaxed: for reports, and for makers that have made a fence before.
    [[nodiscard]] std::uint32_t sleeping() const noexcept {
        return m_sleeping.load(std::memory_order_relaxed) & k_count;
    }
    [[nodiscard]] std::uint32_t searching() const noexcept {
        return m_searching.load(std::memory_order_relaxed);
    }

    // Whether it is listed now. By anyone, for reports.
    [[nodiscard]] bool sleeps(sleeper_type& asked) noexcept {
        m_lock.lock();
        bool const listed = asked.m_listed.load();
        m_lock.unlock();
        return listed;
    }
    // How many have been woken so far, not counting those whose time was up.
    [[nodiscard]] std::uint32_t wakes() noexcept {
        m_lock.lock();
        std::uint32_t const count = m_wakes.load();
        m_lock.unlock();
        return count;
    }

private:
    template <class Leave> bool take_newest(Leave leave) noexcept {
        m_lock.lock();
        sleeper_type* const chosen = m_listed.first();
        base::waker* const elsewhere = chosen != nullptr ? take_listed(*chosen, leave) : nullptr;
        m_lock.unlock();
        if (chosen == nullptr) tell_watcher();
        return chosen != nullptr && wake_up(*chosen, elsewhere);
    }
    template <class Leave> bool take(sleeper_type& chosen, Leave leave) noexcept {
        m_lock.lock();
        bool const listed = chosen.m_listed.load();
        base::waker* const elsewhere = listed ? take_listed(chosen, leave) : nullptr;
        m_lock.unlock();
        return listed && wake_up(chosen, elsewhere);
    }
    // Called under the lock. Returns how it is to be woken: what it says itself may change once it
    // is unlisted.
    template <class Leave>
    [[nodiscard]] base::waker* take_listed(sleeper_type& chosen, Leave leave) noexcept {
        base::waker* const elsewhere = chosen.m_elsewhere.load();
        m_wakes.store(m_wakes.load() + 1);
        leave(chosen);
        unlist(chosen);
        return elsewhere;
    }
    // Called under the lock, before unlist: at no moment is a worker that will search counted as
    // neither. relaxed: a maker that sees neither count yet wakes one too many.
    void send_to_search(sleeper_type&) noexcept {
        m_searching.fetch_add(1, std::memory_order_relaxed);
    }
    // Called under the lock: the worker is no longer asleep.
    void unlist(sleeper_type& chosen) noexcept {
        m_listed.remove(chosen);
        chosen.m_listed.store(false);
        // relaxed: as in send_to_search; and the fence, for pass_search_on.
        std::uint32_t const before = m_sleeping.fetch_sub(1, std::memory_order_relaxed);
        Machine::fence_seq_cst();
        // This is done under the lock, else a late signal could end the sleeper's next sleep. Pairs
        // with the acquire in sleep. The fence would do, but the thread sanitizer knows no fences.
        chosen.m_signal.store(1, std::memory_order_release);
        if ((before & ~k_watches_work) == (k_watches_sleepers | 1U)) wake_watcher();
    }
    static bool wake_up(sleeper_type& chosen, base::waker* elsewhere) noexcept {
        if (elsewhere != nullptr)
            elsewhere->wake();
        else
            Machine::futex_wake(chosen.m_signal, 1);
        return true;
    }

    static constexpr std::uint32_t k_watches_work = std::uint32_t{1} << 31;
    static constexpr std::uint32_t k_watches_sleepers = std::uint32_t{1} << 30;
    static constexpr std::uint32_t k_count = k_watches_sleepers - 1;

    atomic<std::uint32_t> m_sleeping{0}; // a count, and the watcher's two bits
    atomic<std::uint32_t> m_searching{0};
    atomic<std::uint32_t> m_told{0}; // futex of the watcher: what it has been told of
    base::basic_spin_lock<Machine> m_lock;
    plain<std::uint32_t> m_wakes{0}; // guarded by the lock
    // The newest first: its caches are warm.
    base::intrusive_stack<&sleeper_type::m_next> m_listed;
};

} // namespace tulle::park
