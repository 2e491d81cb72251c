// SPDX-License-Identifier: Apache-2.0
#include "sched/watch/watcher.hpp"

#include "os/clock.hpp"
#include "os/thread.hpp"
#include "sched/scheduler.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <new>

namespace tulle::sched {

namespace {

constexpr std::uint64_t k_ms = 1'000'000;
constexpr std::uint64_t k_late_ns = k_ms; // of a timer, before the watcher expires it
// The timers that one round expires at most: threads that the watcher wakes come after those that
// workers have woken.
constexpr std::uint32_t k_late_steps = 32;
// Between two rounds while all workers are busy.
constexpr std::uint64_t k_busy_period_ns = 10 * k_ms;
constexpr std::uint64_t k_poll_period_ns = k_ms;       // the same where it polls for others
constexpr std::uint64_t k_first_alert_ns = k_ms / 2;   // while something waits; doubles
constexpr std::uint64_t k_longest_alert_ns = 4 * k_ms; //
// A substitute runs on for so long after it was needed last, whatever it does: more workers than
// are wanted take processors from each other.
constexpr std::uint64_t k_kept_ns = 250 * k_ms;
// Between two rounds while a worker sleeps; doubles.
constexpr std::uint64_t k_first_calm_ns = 20 * k_ms;
constexpr std::uint64_t k_longest_calm_ns = 320 * k_ms;

constexpr std::uint64_t k_slice_ns = k_ms / 10;

using idle_set = park::idle_set<os::machine>;

// relaxed, all: one writer; reports may see an older number.
template <class T> void add_one(std::atomic<T>& count) noexcept {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

} // namespace

int watcher::start(scheduler& watched) try {
    if (watched.chosen().max_substitutes == 0) return 0;
    m_scheduler = &watched;
    auto const workers = static_cast<std::size_t>(watched.most_workers());
    m_judge = {};
    m_judge.reserve(workers);
    m_log.begin(workers);
    m_tasks = std::vector<os::task_state>(workers);
    m_needed.assign(workers + 1, 0);
    m_stuck.reserve(workers);
    m_substitutes = 0;
    m_shown_substitutes.store(0, std::memory_order_relaxed); // relaxed, both: no watcher yet
    m_stops.store(false, std::memory_order_relaxed);
    int const error =
        os::with_signals_blocked([this] { return os::start_thread(m_thread, &run, this); });
    m_runs = error == 0;
    return error;
} catch (std::bad_alloc const&) {
    return ENOMEM;
}

void watcher::stop() noexcept {
    if (!m_runs) return;
    m_stops.store(true, std::memory_order_relaxed); // relaxed: the wake-up that follows orders it
    m_scheduler->idle().wake_watcher();
    pthread_join(m_thread, nullptr);
    forget();
}

void watcher::forget() noexcept {
    m_runs = false;
    m_tid.store(0, std::memory_order_relaxed); // relaxed, all: there is no watcher
    m_pauses.store(false, std::memory_order_relaxed);
    m_sleeps_until.store(0, std::memory_order_relaxed);
    m_expected = k_never;
    m_tasks.clear();
}

namespace {

// What the system says of it.
struct os_thread_of_worker {
    os::task_state& task;
    asking_turns& turns;
    std::size_t index;
    int tid;
    os::task_state::view seen; // as it was found before

    // Where the system is not asked, or does not say, as where there is no descriptor to ask it by,
    // it is as before: it has not come back to the scheduler since.
    bool in_kernel() noexcept {
        using kind = os::task_state::kind;
        bool const was_in_kernel = seen.state == kind::in_kernel;
        bool const is_asked = task.is_open() || turns.may_open(index, was_in_kernel);
        os::task_state::view const now = is_asked ? task.read(tid) : os::task_state::view{};
        if (now.state != kind::unknown) seen = now;
        return seen.state == kind::in_kernel;
    }
    [[nodiscard]] std::uint64_t computed_ns() const noexcept { return os::thread_time_ns(tid); }
};

} // namespace

void* watcher::run(void* self) {
    auto& w = *static_cast<watcher*>(self);
    os::set_name("tulle-watch");
    os::shorten_slice(k_slice_ns);
    w.m_tid.store(os::thread_id(), std::memory_order_relaxed); // relaxed: for reports
    w.watch();
    return nullptr;
}

// m_stops is written before the watcher is woken, which sleep_as_watcher acquires.
void watcher::watch() noexcept {
    while (!m_stops.load(std::memory_order_relaxed)) {
        std::uint64_t const now = os::monotonic_ns();
        expire_late_timers(now);
        if (has_to_poll()) static_cast<void>(m_scheduler->idle_poller()->poll());
        if (events_are_unwatched()) static_cast<void>(m_scheduler->events()->poll());
        if (m_pauses.load(std::memory_order_acquire)) { // pairs with pause
            doze(now + k_longest_alert_ns);
            continue;
        }
        findings const found = judge_all(now);
        substitute(now);
        free_main_if_stuck();
        sleep(found, now);
    }
}

// relaxed, all: a sample.
worker_sample watcher::sample(worker_remote const& w) const noexcept {
    bool const runs =
        w.tid.load(std::memory_order_relaxed) != 0 && !m_scheduler->active().is_surplus(w);
    return {!runs || w.rest.is_set(), w.decisions.value()};
}

stuck_state watcher::judge(worker_remote& w, std::uint64_t now) noexcept {
    auto const index = static_cast<std::size_t>(w.index);
    stuck_state const before = m_judge.state_of(index);
    bool const is_kept = index < asking_turns::k_most_kept;
    // relaxed, both: written when its OS thread starts, and by the watcher.
    int const tid = w.tid.load(std::memory_order_relaxed);
    os_thread_of_worker of{m_tasks[index], m_turns, index, tid, {}};
    if (before == stuck_state::in_kernel)
        of.seen = {os::task_state::kind::in_kernel, w.found_call.load(std::memory_order_relaxed)};
    // acquire, both: what the system says of it lies between; they pair with diag::halt.
    std::uint32_t const halts = w.halts.load(std::memory_order_acquire);
    if (halts % 2 != 0) return before;
    worker_sample const seen = sample(w);
    stuck_state const state = m_judge.judge(index, seen, now, of);
    if (!is_kept && (seen.is_idle || state == stuck_state::in_kernel)) m_tasks[index].close();
    if (w.halts.load(std::memory_order_acquire) != halts) return m_judge.keep(index, before);
    note(w, state, before, of.seen.call, now);
    return state;
}

// relaxed, all: see add_one.
void watcher::note(worker_remote& w, stuck_state state, stuck_state before, int call,
                   std::uint64_t now) noexcept {
    auto const index = static_cast<std::size_t>(w.index);
    m_log.note(index, state, call, m_judge.since(index), now);
    if (state == stuck_state::in_kernel && call >= 0) {
        m_last_call.store(call, std::memory_order_relaxed);
        w.found_call.store(call, std::memory_order_relaxed);
    }
    if (state == before) return;
    if (state != stuck_state::in_kernel) w.found_call.store(-1, std::memory_order_relaxed);
    w.found.store(state, std::memory_order_relaxed);
    if (state == stuck_state::free) return;
    add_one(state == stuck_state::in_kernel ? m_found_in_kernel : m_found_computing);
    m_last_worker.store(w.index, std::memory_order_relaxed);
}

// A worker that computes is replaced only where somebody waits for that, and not in any number: the
// processors have enough to do.
watcher::findings watcher::judge_all(std::uint64_t now) noexcept {
    constexpr int k_most_computing = 64;
    findings found;
    found.waits = m_scheduler->something_waits();
    m_stuck.clear();
    int computing = 0;
    auto const& workers = m_scheduler->workers();
    m_turns.begin_round(workers.size());
    for (std::size_t k = 0; k != workers.size(); ++k) {
        worker_remote* const w = workers[m_turns.worker_at(k, workers.size())];
        stuck_state const state = judge(*w, now);
        bool const is_replaced =
            state == stuck_state::computes && found.waits && computing++ < k_most_computing;
        if (state == stuck_state::in_kernel || is_replaced) m_stuck.push_back(w);
    }
    if (found.waits || m_scheduler->queues().has_injected()) ask_to_probe();
    return found;
}

// A worker that comes back to the scheduler now and then is not stuck, but may find records to run
// each time, and comes to threads that wait only when there are none.
void watcher::ask_to_probe() noexcept {
    for (worker_remote* const w : m_scheduler->workers()) w->probe.set();
}

void watcher::substitute(std::uint64_t now) noexcept {
    int const stuck = static_cast<int>(m_stuck.size());
    int const wanted = std::min(stuck, m_scheduler->chosen().max_substitutes);
    std::fill_n(m_needed.begin(), wanted + 1, now);
    while (m_substitutes < wanted && m_scheduler->active().add_substitute(
                                         *m_stuck[static_cast<std::size_t>(m_substitutes)]->home)) {
        ++m_substitutes;
        add_one(m_substituted);
    }
    while (now - m_needed[static_cast<std::size_t>(m_substitutes)] > k_kept_ns) {
        m_scheduler->active().dismiss_substitute(*substitute_to_dismiss());
        --m_substitutes;
    }
    m_shown_substitutes.store(m_substitutes, std::memory_order_relaxed); // relaxed: for reports
    m_scheduler->join_ended_workers();
}

// There is one. One that does nothing, if any does.
worker_remote* watcher::substitute_to_dismiss() const noexcept {
    worker_remote* found = nullptr;
    for (worker_remote* const w : m_scheduler->workers()) {
        // relaxed: of substitutes written by this thread.
        if (w->role.load(std::memory_order_relaxed) != worker_role::substitute) continue;
        found = w;
        if (sample(*w).is_idle) break;
    }
    return found;
}

void watcher::free_main_if_stuck() noexcept {
    auto const& s = *m_scheduler;
    if (!s.chosen().adopt_caller || !s.chosen().main_may_move) return;
    if (m_judge.state_of(0) != stuck_state::free) m_scheduler->free_main();
}

void watcher::expire_late_timers(std::uint64_t now) noexcept {
    if (m_scheduler->timers().next_deadline() <= now - k_late_ns)
        m_scheduler->timers().expire(now, k_late_steps);
}

// Longer and longer, while what waits is taken in time.
std::uint64_t watcher::alert_period() noexcept {
    m_alert_period =
        m_alert_period == 0 ? k_first_alert_ns : std::min(2 * m_alert_period, k_longest_alert_ns);
    return m_alert_period;
}

// A worker sleeps, so whatever becomes ready is taken; but main may be taken by worker 0 only, and
// substitutes are to go some time.
std::uint64_t watcher::calm_period() noexcept {
    if (m_substitutes == 0 && sample(*m_scheduler->workers()[0]).is_idle) return k_never / 2;
    m_calm_period =
        m_calm_period == 0 ? k_first_calm_ns : std::min(2 * m_calm_period, k_longest_calm_ns);
    return m_calm_period;
}

// While all workers are busy nobody else would poll for what comes from outside.
bool watcher::has_to_poll() const noexcept {
    base::idle_poller const* const others = m_scheduler->idle_poller();
    return others != nullptr && others->needs_watcher();
}

// Perhaps nobody else polls for them: no worker sleeps, or what one has left to watch has
// happened.
bool watcher::events_are_unwatched() const noexcept {
    base::event_source const* const events = m_scheduler->events();
    return events != nullptr && events->is_awaited() && !events->is_watched();
}

// After the watcher was told of work it makes one round, and another one a while later, before it
// may be told again: else a program that makes work all the time would wake it each time.
void watcher::sleep(findings const& found, std::uint64_t now) noexcept {
    if (m_scheduler->chosen().explains) {
        doze(now + k_ms);
        return;
    }
    auto& idle = m_scheduler->idle();
    if (found.waits || m_is_told) {
        m_is_told = false;
        doze(now + alert_period());
        return;
    }
    idle.watch_work();
    bool const polls = events_are_unwatched();
    if (idle.watch_sleepers() && !polls)
        m_is_told = doze(now + calm_period(), true);
    else
        m_is_told = doze(now + (polls || has_to_poll() ? k_poll_period_ns : k_busy_period_ns));
    if (!m_is_told) m_alert_period = 0;
    if (m_is_told) m_calm_period = 0;
}

// Sleeps until then, or until a timer is late that is left to the watcher; but not for less than
// the shortest time between two rounds. `is_calm`: timers that a sleeping worker wakes for are left
// to that one. True: it has been told of something else than a deadline.
bool watcher::doze(std::uint64_t until, bool is_calm) noexcept {
    std::uint64_t in_time_from = until - k_late_ns;
    // relaxed: there is a fence in next_deadline(). Of whoever inserts a deadline, or does
    // not wake for it any more, and sees the old value, it is seen there.
    m_sleeps_until.store(in_time_from, std::memory_order_relaxed);
    std::uint64_t const first = std::min(is_calm ? m_scheduler->first_unkept_deadline()
                                                 : m_scheduler->timers().next_deadline(),
                                         m_expected);
    if (first < in_time_from) {
        until = std::max(first + k_late_ns, os::monotonic_ns() + k_first_alert_ns);
        in_time_from = until - k_late_ns;
        m_sleeps_until.store(in_time_from, std::memory_order_relaxed); // relaxed: see expect
    }
    std::uint32_t const told = m_scheduler->idle().sleep_as_watcher(until);
    // relaxed: whoever has lowered it has then told the watcher.
    std::uint64_t const lowest = m_sleeps_until.exchange(0, std::memory_order_relaxed);
    if ((told & idle_set::k_told_of_deadline) != 0)
        m_expected = lowest;
    else if (m_expected <= os::monotonic_ns())
        m_expected = k_never;
    return (told & idle_set::k_told_of_workers) != 0;
}

// relaxed, all: see expect.
void watcher::be_early(std::uint64_t deadline) noexcept {
    std::uint64_t before = m_sleeps_until.load(std::memory_order_relaxed);
    while (deadline < before) {
        if (m_sleeps_until.compare_exchange_strong(before, deadline, std::memory_order_relaxed,
                                                   std::memory_order_relaxed))
            return m_scheduler->idle().wake_watcher(idle_set::k_told_of_deadline);
    }
}

// relaxed, all: see add_one.
watcher_view watcher::view() const noexcept {
    return {m_shown_substitutes.load(std::memory_order_relaxed),
            m_substituted.load(std::memory_order_relaxed),
            m_found_in_kernel.load(std::memory_order_relaxed),
            m_found_computing.load(std::memory_order_relaxed),
            m_last_call.load(std::memory_order_relaxed),
            m_last_worker.load(std::memory_order_relaxed)};
}

} // namespace tulle::sched
