// SPDX-License-Identifier: Apache-2.0
// What the threads that run are doing, when a report is asked for: the signal that asks is passed
// on to every worker, and each leaves the registers that it has interrupted and waits until the
// copy of the process has been made. All in signal handlers.
#pragma once

#include "arch/registers.hpp"
#include "sched/scheduler.hpp"

#include <csignal>

#include <ucontext.h>

namespace tulle::diag {

// While one lives, the worker that it has interrupted, if any, is not judged to be stuck in the
// kernel.
class halt {
public:
    halt() noexcept : m_worker(sched::this_worker()) { count(); }
    ~halt() { count(); }
    halt(halt const&) = delete;
    halt& operator=(halt const&) = delete;

private:
    void count() noexcept {
        // pairs with watcher::judge.
        if (m_worker != nullptr) m_worker->halts.fetch_add(1, std::memory_order_acq_rel);
    }

    sched::worker* m_worker;
};

// The first handler calls this: it passes `signal` on, and returns when all workers stand still or
// have had their time.
void stop_workers(sched::scheduler& scheduler, int signal, ucontext_t const& own) noexcept;
void let_workers_go() noexcept;

// Whether a signal is one that stop_workers has passed on; such a one is never a request, however
// late it comes.
[[nodiscard]] bool is_from_stopper(siginfo_t const& info) noexcept;
// In a forked child: nobody stops workers there.
void forget_stop() noexcept;

// Every handler of that signal calls this. False: nobody is stopping this worker, so the signal is
// a request of its own.
[[nodiscard]] bool stand_still_if_asked(ucontext_t const& interrupted) noexcept;

} // namespace tulle::diag
