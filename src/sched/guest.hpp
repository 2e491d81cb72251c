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

// When the calling OS thread ends: a guest is detached; that a worker's OS thread ends is an error. Null: nothing is done any more.
void watch_end_of_os_thread(worker* w) noexcept;

// Hands who a thread is over to another fiber: the root is the identity of the OS thread (or of the forked thread at the bottom), beneath
// `root_frame` of the frames on the stack, which stay.
void move_identity(fiber& from, thread_identity& from_root, thread_frame const* root_frame, fiber& to, thread_frame& to_root) noexcept;

} // namespace tulle::sched
