// SPDX-License-Identifier: Apache-2.0
// Workers come and go while the run time runs. Those below an index are active, unless they, or
// their shepherds, are disabled; the others stand by: outside the idle set, so that nobody wakes
// them in vain, with nothing in their queues, asleep until the number changes. Workers are made
// when they are first wanted and end with the run time; the OS thread of one that nobody has wanted
// for a second ends sooner. Worker 0, to which alone threads are bound, is always active. The
// argument is in docs/protocols/sleep.md.
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
    return r.kind == runnable_kind::fiber ? static_cast<fiber const&>(r).shepherd : static_cast<thread_record const&>(r).shepherd;
}

} // namespace

int scheduler::set_active_workers(int wanted) noexcept try {
    if (is_deterministic() && wanted > 0) return 0; // it is one, whatever is wanted
    if (wanted < 1 || wanted > m_settings.max_workers) return EINVAL;
    std::lock_guard const held(m_resizing);
    if (is_stopping()) return EBUSY;
    if (int const error = make_ready(wanted)) return error;
    apply_change(wanted);
    return 0;
} catch (std::bad_alloc const&) {
    return ENOMEM;
}

// Worker 0 may not: threads are bound to it.
int scheduler::enable_worker(int index, bool on) noexcept {
    std::lock_guard const held(m_resizing);
    if (index < 0 || static_cast<std::size_t>(index) >= workers().size()) return EINVAL;
    if (index == 0) return on ? 0 : EPERM;
    if (is_stopping()) return EBUSY;
    // relaxed: see is_surplus.
    workers()[static_cast<std::size_t>(index)]->is_disabled.store(!on, std::memory_order_relaxed);
    apply_change(m_limit.number());
    return 0;
}

int scheduler::enable_shepherd(int index, bool on) noexcept {
    std::lock_guard const held(m_resizing);
    if (index < 0 || static_cast<std::size_t>(index) >= shepherds().size()) return EINVAL;
    shepherd& s = *shepherds()[static_cast<std::size_t>(index)];
    if (workers()[0]->home == &s) return on ? 0 : EPERM;
    if (is_stopping()) return EBUSY;
    s.is_disabled.store(!on, std::memory_order_relaxed); // relaxed: see is_surplus
    apply_change(m_limit.number());
    return 0;
}

void scheduler::apply_change(int wanted) noexcept {
    count_active(wanted);
    m_limit.tell_all();
    send_away_surplus();
}

// Each has an OS thread and a stack for its loop. After an error, those that were made stand by.
int scheduler::make_ready(int wanted) {
    for (int k = m_limit.number(); k < wanted; ++k) {
        auto const index = static_cast<std::size_t>(k);
        if (index == workers().size()) static_cast<void>(make_worker(nullptr));
        if (int const error = revive(*m_registry.cores()[index])) return error;
    }
    return 0;
}

// The shepherds first, for is_surplus.
void scheduler::count_active(int wanted) noexcept {
    int active = 0, running = 0;
    for (auto const& s : shepherds()) {
        int running_here = 0;
        for (worker_remote const* const w : s->workers) { // relaxed, all: under m_resizing
            if (w->is_disabled.load(std::memory_order_relaxed) || s->is_disabled.load(std::memory_order_relaxed)) continue;
            if (w->index < wanted) ++active;
            if (w->index < wanted || w->is_substitute.load(std::memory_order_relaxed)) ++running_here;
        }
        s->active.store(running_here, std::memory_order_relaxed); // relaxed: m_limit changes below
        running += running_here;
    }
    // relaxed, both: snapshots for reports,
    m_active_count.store(active, std::memory_order_relaxed);
    // And for whoever looks twice (standstill_finder.cpp).
    m_running_count.store(running, std::memory_order_relaxed);
    m_limit.change(wanted);
}

// G1 was count_active. A worker that is neither asleep nor napping looks at m_limit before it is.
// What was placed at a shepherd that has no worker any more is for anyone: its maker sees that
// (wake_one_of), or it was placed before, and one who searches will find it.
void scheduler::send_away_surplus() noexcept {
    os::machine::fence_seq_cst();
    for (worker_remote* const w : workers()) {
        if (is_surplus(*w) && !m_idle.wake(w->sleeper)) wake_from_nap(*w);
    }
    m_idle.wake_one();
}

// The threads that nobody has stolen go to the others, and whoever sleeps is told to look: for
// these, for timers, and for what makers of work have left to this worker when it searched.
bool scheduler::stand_by(worker& w) noexcept {
    while (runnable* const r = w.ready.pop()) inject(*r, shepherd_of(*r));
    flush_caches(w);
    w.has_worked = false;
    m_idle.wake_one();
    w.stands_by.store(true, std::memory_order_release); // pairs with stands_still
    w.is_idle.store(true, std::memory_order_relaxed);   // relaxed: a hint for the watcher
    for (;;) {
        std::uint32_t const seen = m_limit.look();
        if (!is_surplus(w) || is_stopping()) break;
        bool const is_told = m_limit.wait_for_change(seen, os::monotonic_ns() + k_stands_by_ns);
        if (!is_told && may_end(w)) return false;
    }
    // If there is none: it takes up work when others give stacks back.
    static_cast<void>(keep_reserve(w));
    // relaxed: the number of active workers has changed, which tells as much.
    w.stands_by.store(false, std::memory_order_relaxed);
    return true;
}

// Worker 0 stays, and one that is wanted again by now.
bool scheduler::may_end(worker& w) noexcept {
    std::lock_guard const held(m_resizing);
    if (w.native == nullptr || !is_surplus(w) || is_stopping()) return false;
    // relaxed: read under m_resizing, or by the watcher, which looks again.
    w.has_ended.store(true, std::memory_order_relaxed);
    return true;
}

void scheduler::move_to(std::vector<int> const& allowed) {
    std::lock_guard const held(m_resizing);
    m_registry.assign(allowed);
    for (worker_remote* const w : workers()) {
        // Locality only: a refusal does no harm.
        if (w->has_os_thread) static_cast<void>(os::pin_to(w->os_thread, w->home->cpus));
    }
}

} // namespace tulle::sched
