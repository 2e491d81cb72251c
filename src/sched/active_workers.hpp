// SPDX-License-Identifier: Apache-2.0
// Which workers may run threads. Workers come and go while the run time runs: a worker is active if
// its index is below the number that is wanted, and neither it nor its shepherd is disabled. All
// others stand by: they are outside the idle set, so that nobody wakes them in vain, have nothing
// in their queues, and sleep until that changes. A substitute for a stuck worker, and a stand-in
// for one that a thread blocks on purpose, run although their index is not below the number.
// A worker is made when it is first wanted, and ends with the run time; its OS thread ends sooner
// if nobody has wanted it for a second. Worker 0, to which alone threads are bound, is always
// active, but while it waits for its number (lent_number.hpp). The argument is in
// src/park/README.md.
#pragma once

#include "os/machine.hpp"
#include "sched/worker.hpp"
#include "sched/worker_limit.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

namespace tulle::sched {

class scheduler;

class active_workers {
public:
    explicit active_workers(scheduler& owner) noexcept : m_scheduler(owner) {}
    active_workers(active_workers const&) = delete;
    active_workers& operator=(active_workers const&) = delete;

    // --- how many there are; any thread ----------------------------------------------------------
    // relaxed, both: snapshots.
    [[nodiscard]] int count() const noexcept {
        return m_active_count.load(std::memory_order_relaxed);
    }
    // These, and the substitutes and stand-ins.
    [[nodiscard]] int running() const noexcept {
        return m_running_count.load(std::memory_order_relaxed);
    }
    // Whether this worker should stand by. If it should, it also sees whether its shepherd has no
    // active worker any more.
    [[nodiscard]] TULLE_INLINE bool is_surplus(worker_remote const& w) const noexcept {
        // relaxed: written before the change of m_limit, which is read first.
        if (w.index >= m_limit.number_in(m_limit.read()) &&
            w.role.load(std::memory_order_relaxed) == worker_role::regular)
            return true;
        return w.is_disabled.load(std::memory_order_relaxed) ||
               w.is_held_back.load(std::memory_order_relaxed) ||
               w.home->is_disabled.load(std::memory_order_relaxed);
    }

    // --- changes; any thread ---------------------------------------------------------------------
    // Returns 0; EINVAL: not from 1 to max_workers; ENOMEM; EAGAIN: no OS threads; EBUSY: stopping.
    // After an error the number is as it was.
    [[nodiscard]] int set_count(int wanted) noexcept;
    // One worker, or those of a shepherd, stand by until they are enabled again. Returns 0; EINVAL:
    // there is none of that number; EPERM: worker 0, or its shepherd; ENOMEM; EAGAIN: no OS thread;
    // EBUSY: stopping.
    [[nodiscard]] int enable_worker(int index, bool on) noexcept;
    [[nodiscard]] int enable_shepherd(int index, bool on) noexcept;
    // From now on workers may run on these CPUs, each on those of its shepherd if it has any.
    void move_to(std::vector<int> const& allowed); // throws std::bad_alloc

    // --- substitutes (substitutes.cpp); the watcher calls these ----------------------------------
    // Adds one to this shepherd. False: there are as many as there may be, or there is no memory,
    // or no OS thread.
    [[nodiscard]] bool add_substitute(shepherd& home) noexcept;
    // The worker stands by as soon as it is done with what it runs.
    void dismiss_substitute(worker_remote& w) noexcept;

    // --- stand-ins (stand_ins.cpp) ---------------------------------------------------------------
    // A thread that is about to block its worker on purpose calls this there. False: it has no
    // number, or has lent it already. Where nobody can stand in yet the next worker does that comes
    // to stand by.
    [[nodiscard]] bool lend_number(worker& self) noexcept;
    // Called once for each that returned true, by any OS thread. True: something that has the
    // number runs on, and this worker runs nothing until it is back; the thread has to leave it.
    [[nodiscard]] bool take_number_back(int index) noexcept;

    // --- workers ---------------------------------------------------------------------------------
    // A surplus worker calls this from its loop, neither searching nor asleep. Returns true when
    // the worker is wanted or all stop, false when its OS thread has to end since nobody has wanted
    // it for long.
    [[nodiscard]] bool stand_by(worker& w) noexcept;

    // --- the scheduler starts and stops ----------------------------------------------------------
    // While it is held, nobody changes which workers there are. Held for milliseconds, never over a
    // switch.
    [[nodiscard]] std::unique_lock<std::mutex> hold() noexcept {
        return std::unique_lock(m_changing);
    }
    // A run begins with so many; no other thread knows of it yet.
    void begin(int wanted) noexcept;
    // The caller has hold(), or no other thread knows of the run yet.
    void count_anew(int wanted) noexcept;
    // From now on the OS thread of a worker ends with the run time only, however long nobody has
    // wanted it. The caller has hold().
    void keep_os_threads() noexcept { m_keeps_os_threads = true; }
    // Wakes those that stand by, to see what has changed.
    void tell_all() noexcept { m_limit.tell_all(); }
    void lock_for_process_fork() noexcept { m_changing.lock(); }
    void unlock_after_process_fork() noexcept { m_changing.unlock(); }

private:
    [[nodiscard]] int make_ready(int wanted);
    [[nodiscard]] int enable(std::atomic<bool>& is_disabled, bool on) noexcept;
    [[nodiscard]] int revive_wanted() noexcept;
    void apply_change(int wanted) noexcept;
    void send_away_surplus() noexcept;
    [[nodiscard]] bool may_end(worker& w) noexcept;
    void begin_standing_by(worker& w) noexcept;
    [[nodiscard]] bool end_standing_by(worker& w) noexcept;
    [[nodiscard]] bool is_spare(worker_remote const& w) const noexcept;
    [[nodiscard]] worker_remote* free_substitute(shepherd& home) noexcept;
    [[nodiscard]] worker_remote* free_stand_in(shepherd& home) noexcept;
    [[nodiscard]] std::size_t missing_stand_ins() const noexcept;
    [[nodiscard]] worker_remote* lend_to_stand_in(worker_remote& lender, std::size_t kept) noexcept;
    [[nodiscard]] bool begin_stand_in(worker_remote& lender, std::size_t kept) noexcept;
    void pass_number_on(worker_remote& stand_in) noexcept;
    void take_up(worker_remote& w) noexcept;
    [[nodiscard]] bool recall(worker_remote& lender) noexcept;
    bool give_number_back(worker_remote& stand_in) noexcept;

    scheduler& m_scheduler;
    std::mutex m_changing;             // guards all below, and the list of workers
    worker_limit<os::machine> m_limit; // how many are wanted
    int m_most_wanted = 0;             // in this run; others are substitutes and stand-ins
    bool m_keeps_os_threads = false;
    std::atomic<int> m_active_count{0};
    std::atomic<int> m_running_count{0};
};

} // namespace tulle::sched
