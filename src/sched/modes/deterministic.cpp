// SPDX-License-Identifier: Apache-2.0
#include "sched/modes/deterministic.hpp"

#include "base/error.hpp"
#include "os/clock.hpp"
#include "os/futex.hpp"
#include "os/thread.hpp"
#include "sched/first_use.hpp"
#include "sched/scheduler.hpp"

#include <tulle/detail/deadline.hpp>
#include <tulle/schedule_point.hpp>
#include <tulle/this_thread.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace tulle::sched {

namespace {

constexpr std::uint64_t k_step_ns = 1'000;
// Between two polls for what another OS thread has made.
constexpr std::uint64_t k_nap_ns = 1'000'000;
constexpr std::uint32_t k_odds_choices = 4; // a point switches always, or once in 2, 4 or 8 times

void post_ready(void* pending, void*) noexcept {
    this_worker()->ready.push_back(*static_cast<fiber*>(pending));
}

// Ends a deterministic run in which nobody can go on: by the report, or, where that is off or only
// warns, by itself.
[[noreturn]] TULLE_COLD void end_in_deadlock(scheduler const& s, std::uint64_t seed) noexcept {
    if (s.chosen().on_deadlock != nullptr) s.chosen().on_deadlock(standstill::deadlock);
    base::fatal("deadlock: every thread waits, none for a time, and there is no other OS thread; "
                "TULLE_SEED=%llu repeats this run",
                static_cast<unsigned long long>(seed));
}

} // namespace

void deterministic_run::adapt(settings& chosen) noexcept {
    chosen.workers = 1;
    chosen.max_substitutes = 0;
}

// Seeds that follow each other must not give sequences that do: the generator's state is a counter.
void deterministic_run::begin(worker& w, std::uint64_t seed, std::uint64_t first_id) noexcept {
    m_random = base::rng(base::rng(seed).next());
    m_seed = seed;
    m_first_id = first_id;
    m_odds = 1U << m_random.below(k_odds_choices);
    m_now = os::monotonic_ns();
    m_trace = m_steps = 0;
    m_is_alone = m_has_told_of_signals = false;
    // After a fork() of the process it holds what the parent had.
    m_ready.clear();
    // relaxed: no other thread knows of the run yet.
    m_has_warned.store(false, std::memory_order_relaxed);
    w.run = this;
    // It stays set: only probe_others_first() takes it back, which is not called in this mode.
    w.probe.set();
}

void deterministic_run::end(worker& w) noexcept {
    for (runnable* const r : m_ready) w.ready.push_back(*r);
    m_ready.clear();
    m_ready.shrink_to_fit();
}

void deterministic_run::step() noexcept {
    m_now += k_step_ns;
    // The thread that starts this run may have an older number, from an earlier use of the library.
    // It counts as the first.
    thread_id const id = this_thread::get_id();
    m_trace = base::mix(m_trace, id < m_first_id ? 1 : id - m_first_id + 1);
    ++m_steps;
}

void deterministic_run::point() noexcept {
    step();
    if (m_random.below(m_odds) == 0) suspend(&post_ready, this_worker()->current, nullptr);
}

void deterministic_run::yield() noexcept {
    step();
    suspend(&post_ready, this_worker()->current, nullptr);
}

void deterministic_run::hold(runnable& r) noexcept try {
    m_ready.push_back(&r);
} catch (std::bad_alloc const&) {
    base::fatal("no memory for the list of %zu ready threads", m_ready.size());
}

void deterministic_run::gather(worker& w) noexcept {
    if (base::idle_poller* const others = w.owner->idle_poller())
        static_cast<void>(others->take_work(false));
    while (runnable* const r = w.owner->take_local(w)) hold(*r);
    while (runnable* const r = w.owner->take_shared(w)) hold(*r);
}

work deterministic_run::take_ready(std::uint32_t position) noexcept {
    runnable* const taken = m_ready[position];
    m_ready[position] = m_ready.back();
    m_ready.pop_back();
    return work::of_ready(taken);
}

work deterministic_run::choose(worker& w) noexcept {
    auto const ready = static_cast<std::uint32_t>(m_ready.size());
    parked_deques& parked = w.owner->m_parked;
    std::uint32_t const chosen = m_random.below(ready + parked.size_hint());
    if (chosen < ready) return take_ready(chosen);
    parked.rotate(chosen - ready);
    for (std::uint32_t left = parked.size_hint(); left != 0; --left) { // empty ones leave the list
        if (record* const slot = parked.steal(w.stolen_from)) return work::of_stolen(slot);
    }
    return ready == 0 ? work{} : take_ready(m_random.below(ready));
}

work deterministic_run::next(worker& w) noexcept {
    scheduler& s = *w.owner;
    for (;;) {
        if (s.is_stopping() && w.native != nullptr) return work::to_stop();
        // If there is none, the code that needs it says so.
        static_cast<void>(reserve_spare(w));
        // A child that goes first.
        if (w.start_next != nullptr) return work::of_ready(s.take_local(w));
        static_cast<void>(s.timers().expire(m_now));
        gather(w);
        work found = choose(w);
        if (!found) found = work::of_stolen(s.steal_record(w)); // of a guest
        if (found) {
            m_is_alone = false;
            return found;
        }
        pass_time(w);
    }
}

void deterministic_run::pass_time(worker& w) noexcept {
    std::uint64_t const deadline = w.owner->timers().next_deadline();
    if (deadline != k_never) {
        m_now = std::max(m_now, deadline);
        return;
    }
    if (os::other_threads() == 0) {
        // The last one may have made something since the worker checked, and then have ended.
        if (!std::exchange(m_is_alone, true)) return;
        if (!awaits_signal(*w.owner)) end_in_deadlock(*w.owner, m_seed);
    } else {
        m_is_alone = false;
    }
    // relaxed: a waker that misses it is late by one nap at most.
    w.nap_word.store(1, std::memory_order_relaxed);
    static_cast<void>(os::futex_wait(w.nap_word, 1, os::monotonic_ns() + k_nap_ns));
    w.nap_word.store(0, std::memory_order_relaxed);
}

// Then the run waits for the handler, in real time.
bool deterministic_run::awaits_signal(scheduler const& s) noexcept {
    settings const& chosen = s.chosen();
    if (chosen.awaits_signal == nullptr || !chosen.awaits_signal()) return false;
    if (!std::exchange(m_has_told_of_signals, true) && chosen.on_deadlock != nullptr)
        chosen.on_deadlock(standstill::awaits_signal);
    return true;
}

void deterministic_run::note_stranger() noexcept {
    worker* const w = this_worker();
    if (w != nullptr && !w->is_guest()) return;
    // relaxed: it orders nothing.
    if (m_has_warned.exchange(true, std::memory_order_relaxed)) return;
    base::warn("TULLE_SEED=%llu: an OS thread of the program's own uses the library; the order of "
               "its calls is not repeated",
               static_cast<unsigned long long>(m_seed));
}

void start_if_deterministic() {
    if (this_worker() != nullptr || scheduler::instance().is_running() || !seed_is_set()) return;
    static_cast<void>(this_fiber());
}

std::uint64_t now_ns() noexcept {
    deterministic_run* const run = this_run();
    return TULLE_LIKELY(run == nullptr) ? os::monotonic_ns() : run->now();
}

} // namespace tulle::sched

namespace tulle::detail {

void schedule_point_cold() noexcept { sched::this_run()->point(); }

std::uint64_t now_ns() noexcept { return sched::now_ns(); }

} // namespace tulle::detail
