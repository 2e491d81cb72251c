// SPDX-License-Identifier: Apache-2.0
// Finds out that nothing will ever happen again. The worker or guest that goes to sleep last sleeps
// for a while only, and then checks: nobody has been woken since, no timer runs, nothing is ready,
// every guest waits without a deadline, and the process has no OS threads but workers and guests.
// Then no one is left who could wake a blocked thread, but for a handler of a signal if the program
// has one. Any other OS thread might wake one, whatever it waits for itself; as such a thread may
// end and tell nobody, the next check comes after twice the time. Two more kinds of standstill are
// found on the way:
//   no stack  all threads that have started wait, and workers have threads to start but no stack
//             for them (modes/stack_shortage.md). A worker that rests for that reason checks
//   a circle  some threads wait for each other while others go on. A worker that sleeps checks,
//             ever more rarely
// Nothing of this is on a path that finds work. A process that stands still and has other OS
// threads pays a few checks a minute.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>

namespace tulle::sched {

class scheduler;
struct worker;

// What is found of a process in which something stands still.
enum class standstill : std::uint8_t {
    deadlock,      // all threads wait, and nothing is left that could wake one
    no_stack,      // all that have started wait, and there is no stack for the others
    awaits_signal, // all wait, but a handler of the program's own may still be called
    circle,        // some wait for each other in a circle, and others go on
};

enum class circle_search : std::uint8_t {
    none,
    // A circle was seen that the threads may have left one after the other: search again soon.
    doubtful,
    found, // one that has not been found before
};

// When threads are searched for circles: after the first time, then after twice the time before,
// and never for more than a small share of the time. One thread at a time changes it; anyone may
// read due().
class circle_schedule {
public:
    // Periods are at most so many times the first.
    static constexpr std::uint64_t k_rarest = 64;
    // A search takes one part of so many of the time.
    static constexpr std::uint64_t k_work_share = 20'000;

    void start(std::uint64_t now, std::uint64_t first_ns) noexcept {
        m_first_ns = first_ns;
        m_period_ns = 0;
        set_due(now + first_ns);
    }
    // relaxed: a time, no more.
    [[nodiscard]] std::uint64_t due() const noexcept {
        return m_due.load(std::memory_order_relaxed);
    }
    // A search took from `begin` to `end`.
    void searched(std::uint64_t begin, std::uint64_t end, circle_search found) noexcept {
        std::uint64_t const longer = std::clamp(2 * m_period_ns, m_first_ns, k_rarest * m_first_ns);
        m_period_ns = std::max(longer, k_work_share * (end - begin));
        set_due(begin + (found == circle_search::doubtful ? m_first_ns / 4 : m_period_ns));
    }

private:
    // relaxed: as above.
    void set_due(std::uint64_t when) noexcept { m_due.store(when, std::memory_order_relaxed); }

    std::uint64_t m_first_ns = 0;
    std::uint64_t m_period_ns = 0;
    std::atomic<std::uint64_t> m_due{0};
};

class standstill_finder {
public:
    explicit standstill_finder(scheduler& watched) noexcept : m_scheduler(watched) {}

    // Called before the first worker starts.
    void start(std::uint64_t now, std::uint64_t first_check_ns) noexcept {
        m_circles.start(now, first_check_ns);
    }
    // Called after the scheduler has been told to stop. It returns when no check is under way that
    // began before.
    void wait_for_checks() noexcept;
    // In a forked child, in which no check is under way.
    void forget_checks() noexcept { ::new (static_cast<void*>(&m_lock)) std::mutex; }
    // Names an OS thread of the library that never wakes a thread: it does not keep a deadlock from
    // being found. 0: there is none. relaxed: as the numbers of workers.
    void set_helper(int tid) noexcept { m_helper.store(tid, std::memory_order_relaxed); }

    // When `w`, which is about to sleep, should check. wait::k_never: another one does, or nobody
    // wants to know.
    [[nodiscard]] std::uint64_t next_check(worker& w) noexcept;
    // `w` calls this at that time. If all threads are blocked and no OS thread is left that could
    // wake one, or if some wait for each other in a circle, settings::on_deadlock is told.
    void check(worker& w) noexcept;
    // A worker calls this that finds no stack for what it could start. If that is so for all
    // workers that are not asleep, settings::on_deadlock is told.
    void check_for_shortage(worker& w) noexcept;

private:
    [[nodiscard]] std::uint64_t activity() const noexcept;
    [[nodiscard]] bool somebody_waits() const noexcept;
    [[nodiscard]] bool all_guests_wait() const noexcept;
    [[nodiscard]] bool stands_still(worker& checks) noexcept;
    [[nodiscard]] bool is_ours(int tid) const noexcept;
    [[nodiscard]] bool has_strangers() noexcept;
    [[nodiscard]] bool is_short_for_good() noexcept;
    void report(standstill found, std::uint64_t when) noexcept;
    void search_for_circle() noexcept;

    scheduler& m_scheduler;
    std::atomic<int> m_helper{0};
    std::mutex m_lock;                            // held during a check; guards all below
    std::uint64_t m_reported = ~std::uint64_t{0}; // activity() at the last report
    bool m_has_told_of_signals = false;
    circle_schedule m_circles;
};

} // namespace tulle::sched
