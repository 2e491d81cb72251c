// SPDX-License-Identifier: Apache-2.0
// Calls that block an OS thread. Those of qt_syscalls.h are made by OS threads of their own
// (io_workers.cpp). Between qt_begin_blocking_action() and qt_end_blocking_action() a qthread
// blocks its worker, and another one stands in for it (blocking_action.cpp).
#pragma once

#include "compat/qthread/library/process_fork.hpp"

#include <tulle/signal.hpp>

#include <csignal>

namespace tulle::compat {

// In the frame of the qthread that waits for it.
struct io_job {
    void (*run)(io_job*) = nullptr;
    io_job* next = nullptr;
    sigset_t signals_blocked{}; // by the qthread
    signal done{1};
};
// Has the job run by an OS thread, and waits; false: there is none, and no more can be started.
[[nodiscard]] bool run_elsewhere(io_job& job);
void end_io_workers() noexcept;
void io_workers_at_fork(fork_phase phase) noexcept;

} // namespace tulle::compat
