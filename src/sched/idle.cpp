// SPDX-License-Identifier: Apache-2.0
// A worker that has found nothing in its own queues searches for a while, and then sleeps. The
// protocol, with the either-or argument, is in park/idle_set.hpp; its steps are in
// park/sleep_steps.hpp.
#include "sched/idle.hpp"

#include "os/clock.hpp"
#include "sched/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace tulle::sched {

namespace {

constexpr std::uint32_t k_most_pauses = 64; // between two rounds of a search
// A worker that was woken in vain more often than this naps before it searches again.
constexpr int k_barren_wakes = 2;
constexpr std::uint64_t k_first_nap_ns = 50'000;
constexpr std::uint64_t k_idle_before_trim_ns = 50'000'000;
constexpr std::uint64_t k_longest_nap_ns = 800'000;
constexpr std::uint64_t k_behind_timekeeper_ns = 250'000;
// While somebody else expires what is due, it is soon done or taken over.
constexpr std::uint64_t k_others_expire_ns = 50'000;
// After a burst of so many threads whose time had come the next deadlines are taken to be as close
// to each other, and a worker sleeps for so long at least: each sleep takes a timer of the kernel
// and a barrier on all processors, which costs more than such a thread.
constexpr std::uint32_t k_dense_burst = 4;
constexpr std::uint64_t k_gather_ns = 200'000;

// What the steps of a worker around its sleep (park/sleep_steps.hpp) ask of the scheduler.
struct work_of_others {
    [[nodiscard]] bool set_wake_flags() const noexcept { return w.owner->set_wake_flags(); }
    [[nodiscard]] bool others_make_work(bool is_announced) const noexcept {
        return w.owner->others_make_work(is_announced);
    }
    [[nodiscard]] bool something_to_do() const noexcept { return w.owner->something_to_do(w); }
    [[nodiscard]] bool can_start(void* handoff) const noexcept {
        return static_cast<runnable*>(handoff)->kind == runnable_kind::fiber || reserve_spare(w);
    }
    void keep(void* handoff) const noexcept { w.ready.push_back(*static_cast<runnable*>(handoff)); }

    worker& w;
};

// The poller for other places, which this worker serves while it searches.
class watch {
public:
    explicit watch(base::idle_poller* poller) noexcept : m_poller(poller) {
        if (m_poller != nullptr) m_poller->begin_watch();
    }
    watch(watch const&) = delete;
    watch& operator=(watch const&) = delete;
    ~watch() {
        if (m_poller != nullptr) m_poller->end_watch(m_has_work);
    }
    work found(work const& w) noexcept {
        m_has_work = static_cast<bool>(w);
        return w;
    }
    bool poll() const noexcept { return m_poller != nullptr && m_poller->poll(); }
    // True: something has come in the meantime.
    bool pause(std::uint32_t times) const noexcept {
        for (; times != 0; --times) {
            os::machine::pause();
            if (m_poller != nullptr && m_poller->poll_between()) return true;
        }
        return false;
    }
    bool take_work() const noexcept { return m_poller != nullptr && m_poller->take_work(true); }
    bool expects(std::uint64_t now) const noexcept {
        return m_poller != nullptr && now < m_poller->expects_until();
    }
    void let_others_run() const noexcept { m_poller->let_others_run(); }
    bool is_to_sleep_at_once() const noexcept {
        return m_poller != nullptr && m_poller->is_to_sleep_at_once();
    }

private:
    base::idle_poller* m_poller;
    bool m_has_work = false;
};

// Rounds with growing pauses, until the time is up: at least one.
work search(worker& w, std::uint64_t patience_ns) noexcept {
    std::uint64_t give_up = 0; // the clock is read once nothing was found
    watch others(w.owner->idle_poller());
    bool has_polled = false;
    for (std::uint32_t pauses = 1;; pauses = std::min(2 * pauses, k_most_pauses)) {
        if (!std::exchange(has_polled, false) && others.poll()) pauses = 1;
        if (base::event_source* const events = w.owner->awaited_events(); events != nullptr)
            static_cast<void>(events->poll());
        work const found = probe_once(w);
        if (found) return others.found(found);
        if (!w.spares.empty() && others.take_work()) continue;
        std::uint64_t const now = os::monotonic_ns();
        if (give_up == 0) give_up = others.is_to_sleep_at_once() ? now : now + patience_ns;
        if (now >= give_up) {
            if (!others.expects(now)) return {};
            others.let_others_run(); // the expected sender may be waiting for the processor
        }
        has_polled = others.pause(pauses);
        if (has_polled) pauses = 1;
    }
}

// A sleep that ends early only when a thread is injected.
void nap(worker& w, std::uint64_t until) noexcept {
    static_cast<void>(w.owner->idle().end_search());
    // relaxed: a waker that misses it is late by one nap at most.
    w.nap_word.store(1, std::memory_order_relaxed);
    static_cast<void>(
        os::futex_wait(w.nap_word, 1, std::min(until, w.owner->timers().next_deadline())));
    // relaxed: as above.
    w.nap_word.store(0, std::memory_order_relaxed);
    w.owner->idle().begin_search();
}

// Work that is gone again whenever a woken worker arrives is not worth its wake-ups, nor are
// threads that are over sooner than stolen. After such work the worker searches again only after a
// while.
void nap_if_due(worker& w, bool woken) noexcept {
    std::uint64_t const now = os::monotonic_ns();
    std::uint64_t until = w.pace.rests_until();
    if (woken && ++w.barren_wakes > k_barren_wakes)
        until = std::max(
            until, now + std::min(k_first_nap_ns << std::min(w.barren_wakes - k_barren_wakes, 8),
                                  k_longest_nap_ns));
    if (until > now) nap(w, until);
}

// The worker has something to do again. release pairs with is_short_for_good.
void stop_starving(worker& w) noexcept {
    if (TULLE_UNLIKELY(w.starves_since.load(std::memory_order_relaxed) != 0))
        w.starves_since.store(0, std::memory_order_release);
}

// There may be work that this worker cannot start for want of a stack. Then it rests for a while,
// since a worker that searches keeps others from being woken.
void rest_without_spare(worker& w) noexcept {
    bool const starves = TULLE_UNLIKELY(w.spares.empty()) && w.owner->something_to_do(w);
    if (TULLE_LIKELY(!starves)) return stop_starving(w);
    if (w.starves_since.load(std::memory_order_relaxed) == 0) // relaxed: one writer
        // pairs with is_short_for_good: its queues are empty.
        w.starves_since.store(os::monotonic_ns(), std::memory_order_release);
    static_cast<void>(w.owner->idle().wake_one());
    w.owner->standstills().check_for_shortage(w);
    nap(w, os::monotonic_ns() + k_longest_nap_ns);
}

// One of the sleeping workers wakes for the first deadline (park/timekeeper.hpp). The others that
// know of it do so a while later, when that one may be busy with what it has found. If all woke at
// once, all but one would do so in vain.
class timekeeping {
public:
    explicit timekeeping(worker& w) noexcept
        : m_worker(w),
          m_gathers(w.burst.size() >= k_dense_burst && w.burst.is_all(w.decisions.value())) {
        std::uint64_t const first = m_worker.owner->timers().next_deadline();
        if (first != k_never) m_wakes_for = std::max(first, earliest(first));
        w.leaves_deadlines = false;
        if (first == k_never) return;
        m_place = &m_worker.owner->keeper();
        if (m_place->take(m_wakes_for)) return;
        m_wakes_for += k_behind_timekeeper_ns;
        m_place = &m_worker.owner->second_keeper();
        if (!m_place->take(m_wakes_for)) m_place = nullptr;
    }
    timekeeping(timekeeping const&) = delete;
    timekeeping& operator=(timekeeping const&) = delete;
    ~timekeeping() {
        if (m_place != nullptr && m_place->leave(m_wakes_for)) m_worker.leaves_deadlines = true;
    }
    [[nodiscard]] std::uint64_t until() const noexcept { return m_wakes_for; }

private:
    [[nodiscard]] std::uint64_t earliest(std::uint64_t first) const noexcept {
        std::uint64_t const now = os::monotonic_ns();
        if (first <= now && m_worker.owner->timers().is_being_expired(now))
            return now + k_others_expire_ns;
        return m_gathers ? now + k_gather_ns : 0;
    }

    worker& m_worker;
    bool m_gathers;
    park::timekeeper<os::machine>* m_place = nullptr; // that is its own
    std::uint64_t m_wakes_for = k_never;
};

// How a sleep has ended. `left`: with work in the worker's own queues, and it does not count as
// searching; else it does.
enum class sleep_end : std::uint8_t { woken, timed_out, left };

// Makes ready the threads of the events that this worker has found instead of sleeping.
sleep_end take_found_events(worker& w, base::event_source& events) noexcept {
    auto& idle = w.owner->idle();
    bool const has_left = idle.leave(w.sleeper);
    gathering events_only(w);
    events.take_found();
    events_only.end();
    events.end_rest(&w);
    if (!has_left) return sleep_end::woken;
    if (!w.ready.looks_empty()) return sleep_end::left;
    idle.begin_search();
    return sleep_end::timed_out;
}

// While threads wait for events, one of the workers that sleep waits for these.
sleep_end sleep_beside_events(worker& w, base::event_source& events, std::uint64_t until) noexcept {
    auto& idle = w.owner->idle();
    while (!idle.is_woken(w.sleeper)) {
        std::uint64_t const ask_again = events.begin_rest(&w);
        if (ask_again != 0) {
            idle.doze(w.sleeper, std::min(until, ask_again));
        } else {
            bool const found = idle.sleeps_elsewhere(w.sleeper, &events) && events.rest(until);
            if (found) return take_found_events(w, events);
            static_cast<void>(idle.sleeps_elsewhere(w.sleeper, nullptr));
        }
        events.end_rest(&w);
        if (os::monotonic_ns() < until) continue;
        idle.withdraw(w.sleeper);
        return sleep_end::timed_out;
    }
    return sleep_end::woken;
}

// The worker has announced it.
sleep_end sleep_until(worker& w, std::uint64_t until) noexcept {
    // Whoever began to wait before the announcement is seen; who begins later sees whether somebody
    // watches.
    if (base::event_source* const events = w.owner->awaited_events())
        return sleep_beside_events(w, *events, until);
    return w.owner->idle().sleep(w.sleeper, until) == park::sleep_result::woken
               ? sleep_end::woken
               : sleep_end::timed_out;
}

// Called while the worker counts as searching. It sleeps if there is really nothing. `woken`: there
// should be something.
sleep_end sleep_until_woken(worker& w) noexcept {
    scheduler& s = *w.owner;
    work_of_others others{w};
    if (!park::prepare_sleep(s.idle(), w.sleeper, others)) return sleep_end::woken;
    std::uint64_t const trim_at =
        w.has_worked ? os::monotonic_ns() + k_idle_before_trim_ns : k_never;
    std::uint64_t const check_at = s.standstills().next_check(w);
    timekeeping const time(w);
    std::uint64_t const until = std::min({trim_at, check_at, time.until()});
    sleep_end const end = sleep_until(w, until);
    w.burst.begin(w.decisions.value()); // of what comes now
    if (end != sleep_end::left) w.event_burst.begin(w.decisions.value());
    if (end != sleep_end::timed_out) return end;
    std::uint64_t const now = os::monotonic_ns();
    if (now >= trim_at) {
        w.has_worked = false;
        s.trim(w);
    }
    if (now >= check_at) s.standstills().check(w);
    return end;
}

// What was handed to this worker while it slept. A thread needs a spare that the worker can go on
// with when the thread waits; if there is no memory for one, the thread goes to the queue.
work accept_handoff(worker& w) noexcept {
    work_of_others others{w};
    auto* const r =
        static_cast<runnable*>(park::accept_handoff(w.owner->idle(), w.sleeper, others));
    if (r != nullptr) tell_of_gathered(w);
    return work::of_ready(r);
}

// The first of the threads whose events have come while the worker slept. Nothing: it cannot start
// it now, and searches.
work begin_with_events(worker& w) noexcept {
    work const found = start_gathered(w);
    if (!found) w.owner->idle().begin_search();
    return found;
}

// Called and left while the worker counts as searching; while it stands by, the worker that
// stand_by wakes searches in its place. False: its OS thread ends, and it does not search any more.
bool stand_by_if_surplus(worker& w) noexcept {
    if (TULLE_LIKELY(!w.owner->active().is_surplus(w))) return true;
    static_cast<void>(w.owner->idle().end_search());
    w.owner->leave_deadlines(w); // whose inserters may have relied on the search
    if (!w.owner->active().stand_by(w)) return false;
    w.owner->idle().begin_search();
    return true;
}

// A worker that has done nothing but run threads whose time had come need not search for long: they
// have made no work that waits, and a search after each of many sleepers would keep the processors
// busy. Nor need one that has run threads whose events had come, as it sleeps where the next ones
// wake it. Such a worker searches one round all the same, and once more when it has announced its
// sleep.
std::uint64_t patience_of(worker const& w) noexcept {
    std::uint32_t const decisions = w.decisions.value();
    bool const rests = w.event_burst.is_all(decisions) && w.owner->awaited_events() != nullptr;
    return w.burst.is_all(decisions) || rests ? 0 : w.owner->chosen().spin_ns;
}

// Called while the worker counts as searching; when it returns, with work, the worker neither
// searches nor sleeps. A worker that has slept for as long as it wanted to, without being woken,
// need not search for long: nothing has made work.
work search_and_sleep(worker& w) noexcept {
    std::uint64_t const patience_ns = patience_of(w);
    bool woken = false;
    for (bool has_slept = false;; has_slept = true) {
        if (!stand_by_if_surplus(w)) return work::to_stop();
        work const found = search(w, woken || !has_slept ? patience_ns : 0);
        if (found) {
            work_of_others others{w};
            park::pass_search_on(w.owner->idle(), others);
            return found;
        }
        rest_without_spare(w);
        nap_if_due(w, woken);
        sleep_end const end = sleep_until_woken(w);
        woken = end == sleep_end::woken;
        work const found_asleep = end == sleep_end::left ? begin_with_events(w) : accept_handoff(w);
        if (found_asleep) return found_asleep;
    }
}

} // namespace

work wait_for_work(worker& w) noexcept {
    w.rest.begin();
    w.owner->idle().begin_search();
    work const found = search_and_sleep(w);
    w.rest.end();
    w.leaves_deadlines = true; // whoever has inserted one may have relied on the search
    stop_starving(w);
    w.barren_wakes = 0;
    w.has_worked = true;
    return found;
}

} // namespace tulle::sched
