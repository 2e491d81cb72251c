// SPDX-License-Identifier: Apache-2.0
// Workers come and go while the run time runs. A worker is active if its index is below the number
// that is wanted, and neither it nor its shepherd is disabled. All others stand by: they are
// outside the idle set, so that nobody wakes them in vain, have nothing in their queues, and sleep
// until the number changes.
// A worker is made when it is first wanted, and ends with the run time; its OS thread ends sooner
// if nobody has wanted it for a second. Worker 0, to which alone threads are bound, is always
// active. The argument is in src/park/README.md.
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

// The shepherds come first: is_surplus looks at m_limit, which changes last.
void scheduler::count_active(int wanted) noexcept {
    int active = 0, running = 0;
    for (auto const& s : shepherds()) {
        int running_here = 0;
        for (worker_remote const* const w : s->workers) { // relaxed, all: under m_resizing
            if (w->is_disabled.load(std::memory_order_relaxed) ||
                s->is_disabled.load(std::memory_order_relaxed))
                continue;
            if (w->index < wanted) ++active;
            if (w->index < wanted || w->is_substitute.load(std::memory_order_relaxed))
                ++running_here;
        }
        s->active.store(running_here, std::memory_order_relaxed); // relaxed: m_limit changes below
        running += running_here;
    }
    // relaxed, both: snapshots for reports, and for standstill_finder.cpp, which looks twice.
    m_active_count.store(active, std::memory_order_relaxed);
    m_running_count.store(running, std::memory_order_relaxed);
    m_limit.change(wanted);
}

// G1 was count_active. A worker that is neither asleep nor napping looks at m_limit before it is.
// What was placed at a shepherd that has no worker any more is for anyone: the thread that places
// it sees that (wake_one_of), or it was placed before, and a worker that searches will find it.
void scheduler::send_away_surplus() noexcept {
    os::machine::fence_seq_cst();
    for (worker_remote* const w : workers()) {
        if (is_surplus(*w) && !m_idle.wake(w->sleeper)) wake_from_nap(*w);
    }
    m_idle.wake_one();
}

// The threads that nobody has stolen go to the other workers, and one that sleeps is woken: for
// these, for timers, and for work that its maker has left to this worker while it searched.
bool scheduler::stand_by(worker& w) noexcept {
    while (runnable* const r = w.ready.pop()) inject(*r, shepherd_of(*r));
    flush_caches(w);
    w.has_worked = false;
    m_idle.wake_one();
    w.stands_by.store(true, std::memory_order_release); // pairs with stands_still
    w.is_idle.store(true, std::memory_order_relaxed);   // relaxed: a hint for the watcher
    for (;;) {
        std::uint32_t const seen = m_limit.read();
        if (!is_surplus(w) || is_stopping()) break;
        bool const is_told = m_limit.wait_for_change(seen, os::monotonic_ns() + k_stands_by_ns);
        if (!is_told && may_end(w)) return false;
    }
    // Without a reserve the worker takes up work when others give stacks back.
    static_cast<void>(m_shortage.keep_reserve(w));
    // relaxed: the number of active workers has changed, which tells as much.
    w.stands_by.store(false, std::memory_order_relaxed);
    return true;
}

// False for worker 0, and for a worker that is wanted again by now.
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
