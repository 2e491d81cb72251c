// SPDX-License-Identifier: Apache-2.0
// Workers that run in place of stuck ones. The watcher decides (watch/watcher.hpp). A substitute is
// a worker whose index is not below the number that is wanted; but for its role it would stand by.
#include "sched/scheduler.hpp"

#include <algorithm>
#include <new>

namespace tulle::sched {

// Whether it is to stand by, or does, or has stood by and ended, and nobody counts on it.
bool active_workers::is_spare(worker_remote const& w) const noexcept {
    // relaxed, both: under m_changing.
    return w.index >= m_limit.number() && w.kind == worker_kind::dedicated &&
           w.role.load(std::memory_order_relaxed) == worker_role::regular &&
           !w.is_disabled.load(std::memory_order_relaxed) && !w.numbers.stands_in();
}

worker_remote* active_workers::free_substitute(shepherd& home) noexcept {
    for (worker_remote* const w : home.workers) {
        if (is_spare(*w)) return w;
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
    w->role.store(worker_role::substitute, std::memory_order_relaxed);
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
    w.role.store(worker_role::regular, std::memory_order_relaxed);
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

} // namespace tulle::sched
