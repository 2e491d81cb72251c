// SPDX-License-Identifier: Apache-2.0
// A foreign OS thread that uses Tulle: it has a worker without a loop, so that it can fork, join, wait and wake like any other.
// Its records are stolen like a worker's; what nobody steals it runs itself. Its waits block the OS thread.
#pragma once

#include "sched/scheduler.hpp"

namespace tulle::sched {

struct scheduler::guest {
    guest(scheduler& of, bool asymmetric) noexcept : as_worker(of, worker_kind::guest, -1, asymmetric) {}

    worker as_worker;
    fiber stack{fiber_kind::guest};
    thread_frame frame;
    guest* next = nullptr;      // in the list of all; fixed once linked
    guest* next_free = nullptr; // guarded by m_guests_lock
};

// Has the calling OS thread detach this guest when it ends; null: no more.
void detach_at_exit(worker* w) noexcept;

} // namespace tulle::sched
