// SPDX-License-Identifier: Apache-2.0
#include "sched/active_workers.hpp"

#include "os/clock.hpp"
#include "os/thread.hpp"
#include "sched/scheduler.hpp"

#include <algorithm>
#include <cerrno>
#include <new>

namespace tulle::sched {

namespace {

constexpr std::uint64_t k_stands_by_ns = 1'000'000'000; // before the OS thread of a worker ends

int shepherd_of(runnable const& r) noexcept {
    return r.kind == runnable_kind::fiber ? static_cast<fiber const&>(r).shepherd
                                          : static_cast<thread_record const&>(r).shepherd;
}

// A thread of a worker that is to stand by. The bound one waits for the worker.
void hand_over(worker& from, runnable& r) noexcept {
    if (r.bound)
        from.owner->post_to_mailbox(from, static_cast<fiber&>(r));
    else
        from.owner->inject(r, shepherd_of(r));
}

} // namespace

int active_workers::set_count(int wanted) noexcept try {
    if (m_scheduler.is_deterministic() && wanted > 0) return 0; // it is one, whatever is wanted
    if (wanted < 1 || wanted > m_scheduler.chosen().max_workers) return EINVAL;
    std::lock_guard const held(m_changing);
    if (m_scheduler.is_stopping()) return EBUSY;
    if (int const error = make_ready(wanted)) return error;
    m_most_wanted = std::max(m_most_wanted, wanted);
    apply_change(wanted);
    return 0;
} catch (std::bad_alloc const&) {
    return ENOMEM;
}

// Worker 0 may not: threads are bound to it.
int active_workers::enable_worker(int index, bool on) noexcept {
    std::lock_guard const held(m_changing);
    if (index < 0 || index >= m_most_wanted) return EINVAL;
    if (index == 0) return on ? 0 : EPERM;
    return enable(m_scheduler.workers()[static_cast<std::size_t>(index)]->is_disabled, on);
}

int active_workers::enable_shepherd(int index, bool on) noexcept {
    std::lock_guard const held(m_changing);
    if (index < 0 || static_cast<std::size_t>(index) >= m_scheduler.shepherds().size())
        return EINVAL;
    shepherd& s = *m_scheduler.shepherds()[static_cast<std::size_t>(index)];
    if (m_scheduler.workers()[0]->home == &s) return on ? 0 : EPERM;
    return enable(s.is_disabled, on);
}

// After an error it is as it was, though workers that were made again may stand by.
int active_workers::enable(std::atomic<bool>& is_disabled, bool on) noexcept {
    if (m_scheduler.is_stopping()) return EBUSY;
    // relaxed, both: see is_surplus.
    bool const was_disabled = is_disabled.exchange(!on, std::memory_order_relaxed);
    int const error = on ? revive_wanted() : 0;
    if (error != 0) is_disabled.store(was_disabled, std::memory_order_relaxed);
    apply_change(m_limit.number());
    return error;
}

// The OS threads of those that were not wanted for long have ended.
int active_workers::revive_wanted() noexcept try {
    for (worker_remote* const w : m_scheduler.workers()) {
        if (is_surplus(*w)) continue;
        if (int const error = m_scheduler.revive(m_scheduler.m_registry.core_of(*w))) return error;
    }
    return 0;
} catch (std::bad_alloc const&) {
    return ENOMEM;
}

void active_workers::begin(int wanted) noexcept {
    m_most_wanted = wanted;
    count_anew(wanted);
}

void active_workers::apply_change(int wanted) noexcept {
    count_anew(wanted);
    m_limit.tell_all();
    send_away_surplus();
}

// Each has an OS thread and a stack for its loop. After an error, those that were made stand by.
int active_workers::make_ready(int wanted) {
    for (int k = m_limit.number(); k < wanted; ++k) {
        auto const index = static_cast<std::size_t>(k);
        if (index == m_scheduler.workers().size())
            static_cast<void>(m_scheduler.make_worker(nullptr));
        if (int const error = m_scheduler.revive(*m_scheduler.m_registry.cores()[index]))
            return error;
    }
    return 0;
}

// The shepherds come first: is_surplus reads m_limit, which changes last.
void active_workers::count_anew(int wanted) noexcept {
    int active = 0, running = 0;
    for (auto const& s : m_scheduler.shepherds()) {
        int running_here = 0;
        for (worker_remote const* const w : s->workers) { // relaxed, all: under m_changing
            if (w->is_disabled.load(std::memory_order_relaxed) ||
                s->is_disabled.load(std::memory_order_relaxed))
                continue;
            if (w->index < wanted) ++active;
            if (w->index < wanted ||
                w->role.load(std::memory_order_relaxed) != worker_role::regular)
                ++running_here;
        }
        s->active.store(running_here, std::memory_order_relaxed); // relaxed: m_limit changes below
        running += running_here;
    }
    // relaxed, both: snapshots for reports, and for watch/standstill_finder.cpp, which checks
    // twice.
    m_active_count.store(active, std::memory_order_relaxed);
    m_running_count.store(running, std::memory_order_relaxed);
    m_limit.change(wanted);
}

// G1 was count_anew. A worker that is neither asleep nor napping reads m_limit before it is. What
// was placed at a shepherd that has no worker any more is for anyone: the thread that places it
// sees that (wake_one_of), or it was placed before, and a worker that searches will find it.
void active_workers::send_away_surplus() noexcept {
    os::machine::fence_seq_cst();
    for (worker_remote* const w : m_scheduler.workers()) {
        if (is_surplus(*w) && !m_scheduler.m_idle.wake(w->sleeper)) scheduler::wake_from_nap(*w);
    }
    m_scheduler.m_idle.wake_one();
}

// The threads that nobody has stolen go to the other workers, and one that sleeps is woken: for
// these, for timers, and for work that its maker has left to this worker while it searched.
bool active_workers::stand_by(worker& w) noexcept {
    while (runnable* const r = w.ready.pop()) hand_over(w, *r);
    scheduler::flush_caches(w);
    w.has_worked = false;
    m_scheduler.m_idle.wake_one();
    begin_standing_by(w);
    w.rest.begin();
    for (;;) {
        std::uint32_t const seen = m_limit.read();
        if (!is_surplus(w) || m_scheduler.is_stopping()) {
            if (end_standing_by(w)) break;
            continue;
        }
        bool const is_told = m_limit.wait_for_change(seen, os::monotonic_ns() + k_stands_by_ns);
        if (!is_told && may_end(w)) return false;
    }
    // Without a reserve the worker takes up work when others give stacks back.
    static_cast<void>(m_scheduler.m_shortage.keep_reserve(w));
    return true;
}

// A number that it has had is nobody's now; it may get another one.
void active_workers::begin_standing_by(worker& w) noexcept {
    std::lock_guard const held(m_changing);
    w.stands_by.store(true, std::memory_order_release); // pairs with stands_still
    give_number_back(w);
    if (!m_scheduler.is_stopping()) take_up(w);
}

// False: it is not wanted after all. A number that it was to have may have been taken back.
bool active_workers::end_standing_by(worker& w) noexcept {
    std::lock_guard const held(m_changing);
    if (is_surplus(w) && !m_scheduler.is_stopping()) return false;
    w.numbers.begin();
    // relaxed: the number of active workers has changed, which tells as much.
    w.stands_by.store(false, std::memory_order_relaxed);
    return true;
}

// False for worker 0, for a worker that is wanted again by now or will be, and where nobody would
// join it.
bool active_workers::may_end(worker& w) noexcept {
    std::lock_guard const held(m_changing);
    // relaxed: under m_changing.
    bool const is_needed =
        w.native == nullptr || !is_surplus(w) || w.is_held_back.load(std::memory_order_relaxed);
    if (is_needed || m_keeps_os_threads || m_scheduler.is_stopping()) return false;
    // relaxed: read under m_changing, or by the watcher, which reads it again.
    w.has_ended.store(true, std::memory_order_relaxed);
    return true;
}

void active_workers::move_to(std::vector<int> const& allowed) {
    std::lock_guard const held(m_changing);
    m_scheduler.m_registry.assign(allowed);
    for (worker_remote* const w : m_scheduler.workers()) {
        // Locality only: a refusal does no harm.
        if (w->has_os_thread) static_cast<void>(os::pin_to(w->os_thread, w->home->cpus));
    }
}

} // namespace tulle::sched
