// SPDX-License-Identifier: Apache-2.0
// Finds out that nothing will ever happen again. Whoever goes to sleep last, a worker or a guest,
// sleeps for a while only and then looks:
// if nobody has been woken since, no timer runs, nothing is ready, every guest waits without a
// deadline, and the process has no OS threads but workers and guests, then no one is left who could
// wake a blocked thread, but for a handler of a signal if the program has one. Other OS threads
// might, whatever they wait for themselves; then it looks again after twice the time, as such a
// thread may end and tell nobody. Two more kinds of standstill are found on the way:
//   no stack  all that have started wait, and workers have threads to start but no stack for them
//             (shortage.cpp): whoever rests looks
//   a circle  some threads wait for each other while others go on: a worker that sleeps looks, ever
//             more rarely
// Nothing of this is on a path that finds work. A process that stands still and has other OS
// threads pays a few looks a minute.
#include "os/clock.hpp"
#include "os/thread.hpp"
#include "sched/guest.hpp"
#include "sched/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace tulle::sched {

namespace {

// Between two looks there are at most so many times as long as before the first.
constexpr std::uint64_t k_rarest = 8;
constexpr std::uint64_t k_rarest_circle = 64; // the same of looks for circles
// A look for circles takes one part of so many of the time.
constexpr std::uint64_t k_work_share = 20'000;

// Two that went to sleep at one time must not look at one time again and again: each would find the
// other one awake.
std::uint64_t with_jitter(worker& w, std::uint64_t period_ns) noexcept {
    return period_ns + w.random.below(static_cast<std::uint32_t>(period_ns / 2));
}

} // namespace

// Changes whenever somebody is woken or a guest begins a wait. relaxed: where it matters, the waits
// themselves order it.
std::uint64_t scheduler::activity() noexcept {
    std::uint64_t sum = m_idle.wakes();
    for (guest& g : m_guests) sum += g.remote().waits_begun.load(std::memory_order_relaxed);
    return sum;
}

// A look for circles may come while others work, and does not wait for the last one.
std::uint64_t scheduler::next_look(worker& w) noexcept {
    if (m_settings.on_deadlock == nullptr || is_stopping() || !somebody_waits()) return k_never;
    bool const looks_for_circles = m_settings.find_circle != nullptr && !w.is_guest();
    // relaxed: a time, no more.
    std::uint64_t const circle_due = looks_for_circles ? m_circle_due.load(std::memory_order_relaxed) : k_never;
    if (m_idle.sleeping() != static_cast<std::uint32_t>(running_workers()) || m_timers.next_deadline() != k_never) return circle_due;
    std::uint64_t const now_active = activity();
    bool const is_same = now_active == w.watch.activity && w.watch.period_ns != 0;
    std::uint64_t const now = os::monotonic_ns();
    if (is_same && now < w.watch.due) return w.watch.due; // it was awake for something else
    std::uint64_t const first = m_settings.first_look_ns;
    w.watch.period_ns = is_same ? std::min(2 * w.watch.period_ns, k_rarest * first) : first;
    w.watch.activity = now_active;
    w.watch.due = now + with_jitter(w, w.watch.period_ns);
    return w.watch.due; // a look for circles comes with it
}

// Idle workers alone are no reason to look: main waits as the adopted worker, a guest waits, or
// threads are alive.
bool scheduler::somebody_waits() const noexcept {
    if (m_settings.adopt_caller) return true;
    // relaxed: looked at again.
    bool const guest_waits =
        std::any_of(m_guests.begin(), m_guests.end(), [](guest& g) { return g.remote().waits_forever.load(std::memory_order_relaxed); });
    if (guest_waits) return true;
    return live_threads() != 0; // by a worker: a guest has returned already
}

bool scheduler::all_guests_wait() const noexcept {
    for (guest& g : m_guests) {
        worker_remote const& w = g.remote();
        // relaxed: a stranger is found by its number.
        if (w.tid.load(std::memory_order_relaxed) == 0) continue;
        if (!w.waits_forever.load(std::memory_order_acquire)) return false; // pairs with wait_mark
        // A wake-up that is under way is an activity.
        if (g.stack.wake.looks_resumed()) return false;
    }
    return true;
}

// Those that are not active may still run something.
bool scheduler::stands_still(worker& looks) noexcept {
    std::uint32_t const others = static_cast<std::uint32_t>(running_workers()) - (looks.is_guest() ? 0 : 1);
    if (activity() != looks.watch.activity || m_idle.sleeping() != others || m_timers.next_deadline() != k_never) return false;
    if (!all_guests_wait()) return false;
    return std::all_of(workers().begin(), workers().end(), [this](worker_remote* w) {
        // acquire pairs with stand_by.
        return is_surplus(*w) ? w->stands_by.load(std::memory_order_acquire) : !something_to_do(*w);
    });
}

bool scheduler::is_ours(int tid) const noexcept {
    if (tid == m_watcher.tid()) return true;
    if (tid == m_helper.load(std::memory_order_relaxed)) return true; // relaxed: as below
    auto const has = [tid](worker_remote const& w) {
        return w.tid.load(std::memory_order_relaxed) == tid;
    }; // relaxed: numbers do not change
    if (std::any_of(m_guests.begin(), m_guests.end(), [&has](guest& g) { return has(g.remote()); })) return true;
    return std::any_of(workers().begin(), workers().end(), [&has](worker_remote const* w) { return has(*w); });
}

bool scheduler::has_strangers() noexcept {
    auto const is_known = [](void* self, int tid) { return static_cast<scheduler*>(self)->is_ours(tid); };
    return os::count_other_threads(is_known, this) != 0;
}

// `when`: what of the process would be different if it had gone on since.
void scheduler::report_standstill(standstill found, std::uint64_t when) noexcept {
    if (found != standstill::circle && m_settings.awaits_signal != nullptr && m_settings.awaits_signal()) {
        if (!std::exchange(m_has_told_of_signals, true)) m_settings.on_deadlock(standstill::awaits_signal);
        return; // the program may give the handler up, so somebody looks again
    }
    m_reported = when;
    m_settings.on_deadlock(found);
}

// Twice: what the first look saw one after the other was true at one time if nothing has changed
// since.
void scheduler::look_for_deadlock(worker& w) noexcept {
    std::unique_lock const held(m_look_lock, std::try_to_lock);
    if (!held || is_stopping()) return;
    bool const is_due = w.watch.due <= os::monotonic_ns() && w.watch.activity != m_reported;
    if (is_due && stands_still(w) && !has_strangers() && stands_still(w)) return report_standstill(standstill::deadlock, w.watch.activity);
    if (!w.is_guest()) look_for_circle();
}

void scheduler::look_for_circle() noexcept {
    std::uint64_t const begin = os::monotonic_ns();
    // relaxed, both: written under the lock that is held.
    if (m_settings.find_circle == nullptr || begin < m_circle_due.load(std::memory_order_relaxed)) return;
    circle_search const found = m_settings.find_circle();
    if (found == circle_search::found) m_settings.on_deadlock(standstill::circle);
    std::uint64_t const first = m_settings.first_look_ns;
    std::uint64_t const took = os::monotonic_ns() - begin;
    m_circle_period_ns = std::max(std::clamp(2 * m_circle_period_ns, first, k_rarest_circle * first), k_work_share * took);
    m_circle_due.store(begin + (found == circle_search::doubtful ? first / 4 : m_circle_period_ns), std::memory_order_relaxed);
}

// --- no stack for another thread -----------------------------------------------------------------

// What a worker does that is neither asleep nor starves is not known. What has a stack would be
// taken by those who starve.
bool scheduler::is_short_for_good() noexcept {
    if (m_timers.next_deadline() != k_never || !all_guests_wait()) return false;
    // A hint: looked at twice, with all OS threads counted between.
    if (m_injector.has_started()) return false;
    return std::all_of(workers().begin(), workers().end(), [this](worker_remote* w) {
        // pairs with stand_by.
        if (is_surplus(*w)) return w->stands_by.load(std::memory_order_acquire);
        bool const has_nothing = w->mailbox.looks_empty() && w->ready.looks_empty();
        // pairs with starve.
        return has_nothing && (w->starves_since.load(std::memory_order_acquire) != 0 || m_idle.sleeps(w->sleeper));
    });
}

void scheduler::look_for_shortage(worker& w) noexcept {
    if (m_settings.on_deadlock == nullptr || is_stopping()) return;
    std::uint64_t const now = os::monotonic_ns();
    std::uint64_t sum = 0; // of what changes whenever one of them has found work
    for (worker_remote const* const each : workers())
        // relaxed: is_short_for_good decides.
        sum += each->starves_since.load(std::memory_order_relaxed);
    if (sum != w.watch.activity || w.watch.period_ns == 0) w.watch = {sum, m_settings.first_look_ns, now + m_settings.first_look_ns};
    if (now < w.watch.due) return;
    w.watch.period_ns = std::min(2 * w.watch.period_ns, k_rarest * m_settings.first_look_ns);
    w.watch.due = now + with_jitter(w, w.watch.period_ns);
    std::unique_lock const held(m_look_lock, std::try_to_lock);
    if (held && sum != m_reported && is_short_for_good() && !has_strangers() && is_short_for_good())
        report_standstill(standstill::no_stack, sum);
}

} // namespace tulle::sched
