// SPDX-License-Identifier: Apache-2.0
// An OS thread that keeps one invariant while the run time runs:
//   as many workers as are wanted neither sit in the kernel nor compute for long while something is
//   ready
// It finds workers that have not come back to the scheduler (stuck_judge.hpp) and lets others run
// in their place. It expires timers that are late, lets main go on elsewhere when its own worker is
// stuck, and asks workers that come back, but always have records to run, to probe for threads.
// It runs no threads. It sleeps
//   long             while a worker sleeps: that one finds whatever becomes ready; whoever wakes
//                    the last sleeper wakes the watcher, too. No longer than until the first timer
//                    is late if no sleeping worker wakes for that (park/timekeeper.hpp), or if it
//                    was told of one: a worker that was to see to the timers, and has found
//                    something to run instead, tells it
//   for 10 ms        while all workers are busy and nothing waits; whoever makes work then wakes it
//   for 0.5 to 4 ms  while something waits
//   for 1 ms         if it is to tell of all that it finds (settings::explains)
// The rule for computing threads is that of the Go scheduler's monitor (sysmon), which preempts;
// here the operating system divides the processors among more workers.
#pragma once

#include "os/task_state.hpp"
#include "sched/watch/asking_turns.hpp"
#include "sched/watch/stuck_judge.hpp"
#include "sched/watch/stuck_log.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include <pthread.h>

namespace tulle::sched {

class scheduler;
struct worker_remote;

// What it has found and done, for reports.
struct watcher_view {
    int substitutes = 0;           // that run now
    std::uint64_t substituted = 0; // how often one was needed
    std::uint64_t in_kernel = 0;   // how often a worker was found in the kernel
    std::uint64_t computing = 0;   // or computing
    // The system call that the last one was found in; -1: none, or not known.
    int last_call = -1;
    int last_worker = -1; // which one that was
};

class watcher {
public:
    // Returns 0, also where it is not to run (settings::max_substitutes is 0), or a positive errno.
    [[nodiscard]] int start(scheduler& watched);
    void stop() noexcept;   // no effect where it does not run
    void forget() noexcept; // in a child process, where it does not run

    // Whoever leaves a deadline to nobody calls this, after a fence: it wakes the watcher if that
    // would check too late.
    void expect(std::uint64_t deadline) noexcept {
        // relaxed: the fence; see doze.
        if (deadline < m_sleeps_until.load(std::memory_order_relaxed)) be_early(deadline);
    }
    // While a report stops the workers, which would look as if they were stuck in the kernel.
    // Async-signal-safe.
    // pairs with watch.
    void pause(bool pauses) noexcept { m_pauses.store(pauses, std::memory_order_release); }
    // The number of its OS thread; 0: none. relaxed: for reports.
    [[nodiscard]] int tid() const noexcept { return m_tid.load(std::memory_order_relaxed); }
    [[nodiscard]] watcher_view view() const noexcept;
    // The same by system calls.
    [[nodiscard]] stuck_log const& stuck() const noexcept { return m_log; }
    // It has run, or does.
    [[nodiscard]] bool has_watched() const noexcept { return m_scheduler != nullptr; }

private:
    struct findings {
        bool waits = false; // something is ready, and no worker is about to take it
    };

    static void* run(void* self);
    void watch() noexcept;
    [[nodiscard]] findings judge_all(std::uint64_t now) noexcept;
    [[nodiscard]] stuck_state judge(worker_remote& w, std::uint64_t now) noexcept;
    [[nodiscard]] worker_sample sample(worker_remote const& w) const noexcept;
    [[nodiscard]] worker_remote* substitute_to_dismiss() const noexcept;
    [[nodiscard]] bool has_to_poll() const noexcept;
    [[nodiscard]] bool events_are_unwatched() const noexcept;
    void note(worker_remote& w, stuck_state state, stuck_state before, int call,
              std::uint64_t now) noexcept;
    void ask_to_probe() noexcept;
    void substitute(std::uint64_t now) noexcept;
    void free_main_if_stuck() noexcept;
    void expire_late_timers(std::uint64_t now) noexcept;
    void sleep(findings const& found, std::uint64_t now) noexcept;
    bool doze(std::uint64_t until, bool is_calm = false) noexcept;
    [[nodiscard]] std::uint64_t alert_period() noexcept;
    [[nodiscard]] std::uint64_t calm_period() noexcept;
    void be_early(std::uint64_t deadline) noexcept;

    scheduler* m_scheduler = nullptr;
    pthread_t m_thread{};
    bool m_runs = false;
    std::atomic<bool> m_stops{false};
    std::atomic<bool> m_pauses{false};
    std::atomic<int> m_tid{0};
    // While it sleeps, the deadline from which on it is in time, or an earlier one that it has been
    // told of since; else 0.
    std::atomic<std::uint64_t> m_sleeps_until{0};

    // Only its own OS thread uses these.
    stuck_judge m_judge;
    std::vector<os::task_state> m_tasks; // by the workers' indices
    asking_turns m_turns;
    std::vector<worker_remote*> m_stuck; // the last round has found these
    // ns: when as many substitutes were needed last, by their number.
    std::vector<std::uint64_t> m_needed;
    int m_substitutes = 0;
    std::uint64_t m_alert_period = 0; // ns
    std::uint64_t m_calm_period = 0;
    bool m_is_told = false; // somebody has ended its last sleep, and not for a deadline
    // The last deadline that it was told of: it wakes for that, so that it is not told again each
    // time that the worker which keeps the time finds something to run.
    std::uint64_t m_expected = ~std::uint64_t{0};

    // For reports; written by the watcher only.
    std::atomic<int> m_shown_substitutes{0}, m_last_call{-1}, m_last_worker{-1};
    stuck_log m_log;
    std::atomic<std::uint64_t> m_substituted{0}, m_found_in_kernel{0}, m_found_computing{0};
};

} // namespace tulle::sched
