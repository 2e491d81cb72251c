// SPDX-License-Identifier: Apache-2.0
// Finds out that nothing will ever happen again. Whoever goes to sleep last, a worker or a guest, sleeps for a while only and then looks:
// if nobody has been woken since, no timer runs, nothing is ready, every guest waits without a deadline, and the process has no OS
// threads but workers and guests, then no one is left who could wake a blocked thread. Other OS threads might, whatever they wait for
// themselves; then it looks again after twice the time, as such a thread may end and tell nobody.
// Nothing of this is on a path that finds work. A process that stands still and has other OS threads pays a few looks a minute.
#include "os/clock.hpp"
#include "os/thread.hpp"
#include "sched/guest.hpp"
#include "sched/scheduler.hpp"

#include <algorithm>

namespace tulle::sched {

namespace {

constexpr std::uint64_t k_first_period_ns = 100'000'000;
constexpr std::uint64_t k_longest_period_ns = 6'400'000'000;

// Two that went to sleep at one time must not look at one time again and again: each would find the other one awake.
std::uint64_t with_jitter(worker& w, std::uint64_t period_ns) noexcept {
    return period_ns + w.random.below(static_cast<std::uint32_t>(period_ns / 2));
}

} // namespace

// Changes whenever somebody is woken or a guest begins a wait. relaxed: where it matters, the waits themselves order it.
std::uint64_t scheduler::activity() noexcept {
    std::uint64_t sum = m_idle.wakes();
    for (guest* g = m_guests.load(std::memory_order_acquire); g != nullptr; g = g->next) // pairs with attach_guest
        sum += g->as_worker.waits_begun.load(std::memory_order_relaxed);
    return sum;
}

std::uint64_t scheduler::next_look(worker& w) noexcept {
    if (m_settings.on_deadlock == nullptr || is_stopping() || m_timers.next_deadline() != k_never) return k_never;
    if (m_idle.sleeping() != static_cast<std::uint32_t>(running_workers()) || !somebody_waits()) return k_never;
    std::uint64_t const now_active = activity();
    bool const is_same = now_active == w.watch.activity && w.watch.period_ns != 0;
    w.watch.period_ns = is_same ? std::min(2 * w.watch.period_ns, k_longest_period_ns) : k_first_period_ns;
    w.watch.activity = now_active;
    return os::monotonic_ns() + with_jitter(w, w.watch.period_ns);
}

// Idle workers alone are no reason to look: main waits as the adopted worker, a guest waits, or threads are alive.
bool scheduler::somebody_waits() const noexcept {
    if (m_settings.adopt_caller) return true;
    for (guest* g = m_guests.load(std::memory_order_acquire); g != nullptr; g = g->next) { // pairs with attach_guest
        if (g->as_worker.waits_forever.load(std::memory_order_relaxed)) return true;       // relaxed: looked at again
    }
    return live_threads() != 0; // by a worker: a guest has returned already
}

bool scheduler::all_guests_wait() const noexcept {
    for (guest* g = m_guests.load(std::memory_order_acquire); g != nullptr; g = g->next) { // pairs with attach_guest
        worker const& w = g->as_worker;
        if (w.tid.load(std::memory_order_relaxed) == 0) continue;           // relaxed: a stranger is found by its number
        if (!w.waits_forever.load(std::memory_order_acquire)) return false; // pairs with wait_mark
        if (g->stack.wake.looks_resumed()) return false;                    // a wake-up that is under way is an activity
    }
    return true;
}

// Those that are not active may still run something.
bool scheduler::stands_still(worker& looks) noexcept {
    std::uint32_t const others = static_cast<std::uint32_t>(running_workers()) - (looks.is_guest() ? 0 : 1);
    if (activity() != looks.watch.activity || m_idle.sleeping() != others || m_timers.next_deadline() != k_never) return false;
    if (!all_guests_wait()) return false;
    return std::all_of(m_workers.begin(), m_workers.end(), [this](auto const& w) {
        return is_surplus(*w) ? w->stands_by.load(std::memory_order_acquire) : !something_to_do(*w); // acquire pairs with stand_by
    });
}

bool scheduler::is_ours(int tid) const noexcept {
    if (tid == m_watcher.tid()) return true;
    if (tid == m_helper.load(std::memory_order_relaxed)) return true;                                 // relaxed: as below
    auto const has = [tid](worker const& w) { return w.tid.load(std::memory_order_relaxed) == tid; }; // relaxed: numbers do not change
    for (guest* g = m_guests.load(std::memory_order_acquire); g != nullptr; g = g->next) {            // pairs with attach_guest
        if (has(g->as_worker)) return true;
    }
    return std::any_of(m_workers.begin(), m_workers.end(), [&has](auto const& w) { return has(*w); });
}

// Twice: what the first look saw one after the other was true at one time if nothing has changed since.
void scheduler::look_for_deadlock(worker& w) noexcept {
    std::unique_lock const held(m_look_lock, std::try_to_lock);
    if (!held || is_stopping() || w.watch.activity == m_reported || !stands_still(w)) return;
    auto const is_known = [](void* self, int tid) { return static_cast<scheduler*>(self)->is_ours(tid); };
    int const strangers = os::count_other_threads(is_known, this);
    if (strangers != 0 || !stands_still(w)) return;
    m_reported = w.watch.activity;
    m_settings.on_deadlock();
}

} // namespace tulle::sched
