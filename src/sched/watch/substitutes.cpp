// SPDX-License-Identifier: Apache-2.0
// Workers that run in place of stuck ones, and main, which goes on elsewhere when its own worker is
// stuck. The watcher decides (watcher.hpp). A substitute is a worker whose index is not below the
// number that is wanted; but for its mark it would stand by.
#include "sched/modes/guest.hpp"
#include "sched/scheduler.hpp"

#include <algorithm>
#include <new>

namespace tulle::sched {

// One that stands by, or has stood by and ended. Null: there is none.
worker_remote* active_workers::free_substitute(shepherd& home) noexcept {
    for (worker_remote* const w : home.workers) { // relaxed, all: under m_changing
        bool const is_free =
            w->index >= m_limit.number() && !w->is_substitute.load(std::memory_order_relaxed);
        if (is_free && !w->is_disabled.load(std::memory_order_relaxed) &&
            w->kind == worker_kind::dedicated)
            return w;
    }
    return nullptr;
}

bool active_workers::add_substitute(shepherd& home) noexcept try {
    std::lock_guard const held(m_changing);
    if (m_scheduler.is_stopping()) return false;
    worker_remote* w = free_substitute(home);
    if (w == nullptr) {
        if (m_scheduler.workers().size() == static_cast<std::size_t>(m_scheduler.most_workers()))
            return false;
        w = &m_scheduler.make_worker(&home);
    }
    if (m_scheduler.revive(m_scheduler.m_registry.core_of(*w)) != 0) return false;
    // relaxed: the change of m_limit follows.
    w->is_substitute.store(true, std::memory_order_relaxed);
    w->probe.set(); // it comes for threads that wait
    count_anew(m_limit.number());
    m_limit.tell_all();
    return true;
} catch (std::bad_alloc const&) {
    return false;
}

void active_workers::dismiss_substitute(worker_remote& w) noexcept {
    std::lock_guard const held(m_changing);
    // relaxed: the change of m_limit follows.
    w.is_substitute.store(false, std::memory_order_relaxed);
    if (!m_scheduler.is_stopping()) apply_change(m_limit.number());
}

bool scheduler::something_waits() noexcept {
    worker_remote const& of_main = *workers()[0]; // only this one may run main
    // A worker of its shepherd that slept would have been woken for what was placed.
    if (m_injector.has_placed() || !of_main.mailbox.looks_empty() || of_main.ready.has_bound())
        return true;
    if (m_idle.sleeping() != 0 || m_idle.searching() != 0) return false;
    bool const in_queues =
        std::any_of(workers().begin(), workers().end(),
                    [](worker_remote const* w) { return !w->ready.looks_empty(); });
    return in_queues || m_injector.has_injected() || m_injector.has_unstarted() ||
           m_parked.has_stealable() || m_guests.leave_work();
}

// It lies in the mailbox of worker 0, or among its ready threads. From now on it has no home.
void scheduler::free_main() noexcept {
    if (m_main_stays.load(std::memory_order_relaxed)) return; // relaxed: see bind_main
    worker_remote& home = *workers()[0];
    runnable* main = home.mailbox.looks_empty() ? nullptr : home.mailbox.take();
    if (main == nullptr) main = home.ready.steal_bound();
    if (main == nullptr) return;
    m_adopted.unbind();
    inject(*main, -1);
}

void scheduler::let_main_move() noexcept {
    worker const* const self = this_worker();
    bool const is_main = self != nullptr && self->current == &m_adopted;
    // relaxed: main has written it.
    if (is_main && m_settings.main_may_move && !m_main_stays.load(std::memory_order_relaxed))
        m_adopted.unbind();
}

namespace {

void post_to_its_home(void* main, void*) noexcept {
    auto& f = *static_cast<fiber*>(main);
    f.home->owner->post_to_mailbox(*f.home, f);
}

} // namespace

void scheduler::bind_main() noexcept {
    worker_remote& home = *workers()[0];
    if (m_adopted.bound) return;
    m_main_stays.store(true, std::memory_order_relaxed); // relaxed: the mailbox orders it
    // More than once where free_main has read m_main_stays before, and then takes main away.
    for (;;) {
        m_adopted.bind(home);
        if (this_worker() == &home) return;
        suspend(&post_to_its_home, &m_adopted, nullptr);
    }
}

} // namespace tulle::sched
