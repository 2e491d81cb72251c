// SPDX-License-Identifier: Apache-2.0
#include "sched/watch/standstill_finder.hpp"

#include "os/clock.hpp"
#include "os/thread.hpp"
#include "sched/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace tulle::sched {

namespace {

// Between two checks there are at most so many times as long as before the first.
constexpr std::uint64_t k_rarest = 8;

// Two that went to sleep at one time must not check at one time again and again: each would find
// the other one awake.
std::uint64_t with_jitter(worker& w, std::uint64_t period_ns) noexcept {
    return period_ns + w.random.below(static_cast<std::uint32_t>(period_ns / 2));
}

} // namespace

void standstill_finder::wait_for_checks() noexcept {
    m_lock.lock();
    m_lock.unlock();
}

// Changes whenever somebody is woken or a guest begins a wait. relaxed: where it matters, the waits
// themselves order it.
std::uint64_t standstill_finder::activity() const noexcept {
    std::uint64_t sum = m_scheduler.idle().wakes();
    for (guest& g : m_scheduler.guests())
        sum += g.remote().waits_begun.load(std::memory_order_relaxed);
    return sum;
}

// A search for circles may come while others work, and does not wait for the last one to sleep.
std::uint64_t standstill_finder::next_check(worker& w) noexcept {
    if (m_scheduler.chosen().on_deadlock == nullptr || m_scheduler.is_stopping() ||
        !somebody_waits())
        return k_never;
    bool const searches_for_circles = m_scheduler.chosen().find_circle != nullptr && !w.is_guest();
    std::uint64_t const circle_due = searches_for_circles ? m_circles.due() : k_never;
    if (m_scheduler.idle().sleeping() !=
            static_cast<std::uint32_t>(m_scheduler.active().running()) ||
        m_scheduler.timers().next_deadline() != k_never || m_scheduler.awaited_events() != nullptr)
        return circle_due;
    std::uint64_t const now_active = activity();
    bool const is_same = now_active == w.watch.activity && w.watch.period_ns != 0;
    std::uint64_t const now = os::monotonic_ns();
    if (is_same && now < w.watch.due) return w.watch.due; // it was awake for something else
    std::uint64_t const first = m_scheduler.chosen().first_check_ns;
    w.watch.period_ns = is_same ? std::min(2 * w.watch.period_ns, k_rarest * first) : first;
    w.watch.activity = now_active;
    w.watch.due = now + with_jitter(w, w.watch.period_ns);
    return w.watch.due; // a search for circles comes with it
}

// Idle workers alone are no reason to check. Reasons are: main waits as the adopted worker, a guest
// waits, or threads are alive.
bool standstill_finder::somebody_waits() const noexcept {
    if (m_scheduler.chosen().adopt_caller) return true;
    // relaxed: read again.
    bool const guest_waits =
        std::any_of(m_scheduler.guests().begin(), m_scheduler.guests().end(), [](guest& g) {
            return g.remote().waits_forever.load(std::memory_order_relaxed);
        });
    if (guest_waits) return true;
    return m_scheduler.live_threads() != 0; // by a worker: a guest has returned already
}

bool standstill_finder::all_guests_wait() const noexcept {
    for (guest& g : m_scheduler.guests()) {
        worker_remote const& w = g.remote();
        // relaxed: a stranger is found by its number.
        if (w.tid.load(std::memory_order_relaxed) == 0) continue;
        if (!w.waits_forever.load(std::memory_order_acquire)) return false; // pairs with wait_mark
        // A wake-up that is under way is an activity.
        if (g.stack.wake.looks_resumed()) return false;
    }
    return true;
}

// A worker that is not active may still run something.
bool standstill_finder::stands_still(worker& checks) noexcept {
    std::uint32_t const others =
        static_cast<std::uint32_t>(m_scheduler.active().running()) - (checks.is_guest() ? 0 : 1);
    if (activity() != checks.watch.activity || m_scheduler.idle().sleeping() != others ||
        m_scheduler.timers().next_deadline() != k_never || m_scheduler.awaited_events() != nullptr)
        return false;
    if (!all_guests_wait()) return false;
    return std::all_of(m_scheduler.workers().begin(), m_scheduler.workers().end(),
                       [this](worker_remote* w) {
                           // acquire pairs with stand_by.
                           return m_scheduler.active().is_surplus(*w)
                                      ? w->stands_by.load(std::memory_order_acquire)
                                      : !m_scheduler.something_to_do(*w);
                       });
}

bool standstill_finder::is_ours(int tid) const noexcept {
    if (tid == m_scheduler.watching().tid()) return true;
    base::event_source const* const events = m_scheduler.events();
    if (events != nullptr && events->owns_os_thread(tid)) return true;
    if (tid == m_helper.load(std::memory_order_relaxed)) return true; // relaxed: as below
    // relaxed: numbers do not change.
    auto const has = [tid](worker_remote const& w) {
        return w.tid.load(std::memory_order_relaxed) == tid;
    };
    if (std::any_of(m_scheduler.guests().begin(), m_scheduler.guests().end(),
                    [&has](guest& g) { return has(g.remote()); }))
        return true;
    return std::any_of(m_scheduler.workers().begin(), m_scheduler.workers().end(),
                       [&has](worker_remote const* w) { return has(*w); });
}

bool standstill_finder::has_strangers() noexcept {
    auto const is_known = [](void* self, int tid) {
        return static_cast<standstill_finder*>(self)->is_ours(tid);
    };
    return os::count_other_threads(is_known, this) != 0;
}

// `when` is a number that would be different if the process had gone on since.
void standstill_finder::report(standstill found, std::uint64_t when) noexcept {
    if (found != standstill::circle && m_scheduler.chosen().awaits_signal != nullptr &&
        m_scheduler.chosen().awaits_signal()) {
        if (!std::exchange(m_has_told_of_signals, true))
            m_scheduler.chosen().on_deadlock(standstill::awaits_signal);
        return; // the program may give the handler up, so somebody checks again
    }
    m_reported = when;
    m_scheduler.chosen().on_deadlock(found);
}

// It checks twice: what was seen first, one after the other, was all true at one time if nothing
// has changed since.
void standstill_finder::check(worker& w) noexcept {
    std::unique_lock const held(m_lock, std::try_to_lock);
    if (!held || m_scheduler.is_stopping()) return;
    bool const is_due = w.watch.due <= os::monotonic_ns() && w.watch.activity != m_reported;
    if (is_due && stands_still(w) && !has_strangers() && stands_still(w))
        return report(standstill::deadlock, w.watch.activity);
    if (!w.is_guest()) search_for_circle();
}

void standstill_finder::search_for_circle() noexcept {
    settings const& chosen = m_scheduler.chosen();
    std::uint64_t const begin = os::monotonic_ns();
    if (chosen.find_circle == nullptr || begin < m_circles.due()) return;
    circle_search const found = chosen.find_circle();
    if (found == circle_search::found) chosen.on_deadlock(standstill::circle);
    m_circles.searched(begin, os::monotonic_ns(), found);
}

// --- no stack for another thread -----------------------------------------------------------------

// It is not known what a worker does that is neither asleep nor starves. A thread that has a stack
// would be taken by a worker that starves.
bool standstill_finder::is_short_for_good() noexcept {
    if (m_scheduler.timers().next_deadline() != k_never || !all_guests_wait()) return false;
    // A hint: it is read twice, with all OS threads counted in between.
    if (m_scheduler.queues().has_started()) return false;
    return std::all_of(
        m_scheduler.workers().begin(), m_scheduler.workers().end(), [this](worker_remote* w) {
            // acquire pairs with stand_by.
            if (m_scheduler.active().is_surplus(*w))
                return w->stands_by.load(std::memory_order_acquire);
            bool const has_nothing = w->mailbox.looks_empty() && w->ready.looks_empty();
            // acquire pairs with rest_without_spare.
            return has_nothing && (w->starves_since.load(std::memory_order_acquire) != 0 ||
                                   m_scheduler.idle().sleeps(w->sleeper));
        });
}

void standstill_finder::check_for_shortage(worker& w) noexcept {
    if (m_scheduler.chosen().on_deadlock == nullptr || m_scheduler.is_stopping()) return;
    std::uint64_t const now = os::monotonic_ns();
    std::uint64_t sum = 0; // of what changes whenever one of them has found work
    for (worker_remote const* const each : m_scheduler.workers())
        // relaxed: is_short_for_good decides.
        sum += each->starves_since.load(std::memory_order_relaxed);
    if (sum != w.watch.activity || w.watch.period_ns == 0)
        w.watch = {sum, m_scheduler.chosen().first_check_ns,
                   now + m_scheduler.chosen().first_check_ns};
    if (now < w.watch.due) return;
    w.watch.period_ns =
        std::min(2 * w.watch.period_ns, k_rarest * m_scheduler.chosen().first_check_ns);
    w.watch.due = now + with_jitter(w, w.watch.period_ns);
    std::unique_lock const held(m_lock, std::try_to_lock);
    if (held && sum != m_reported && is_short_for_good() && !has_strangers() && is_short_for_good())
        report(standstill::no_stack, sum);
}

} // namespace tulle::sched
