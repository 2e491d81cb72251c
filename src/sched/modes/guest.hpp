// SPDX-License-Identifier: Apache-2.0
// A foreign OS thread that uses Tulle: it has a worker without a loop, so that it can fork, join,
// wait and wake like any other.
// Its records are stolen like a worker's; what nobody steals it runs itself. Its waits block the OS
// thread.
#pragma once

#include "sched/scheduler.hpp"

namespace tulle::sched {

// Whether this worker, the calling OS thread's, may be used: a guest that has outlived the run time
// starts it anew.
[[nodiscard]] inline bool is_attached(worker const* w) noexcept {
    return w != nullptr && (!w->is_guest() || w->owner->is_running());
}
// Gives the calling OS thread a worker, and starts the run time if need be. 0, or the errno value
// that says why not.
[[nodiscard]] TULLE_COLD int attach_caller() noexcept;

// The calling OS thread was a worker's. While the destructors of its thread-local objects run, it
// may become a guest of the run time that was its own. That one runs until the OS thread is joined,
// with the lock of the run time held.
void note_end_of_worker() noexcept;

// So that nobody is about to make it: the key by which ends of OS threads are noticed.
void make_key_of_ends() noexcept;
// From now on a guest is detached when the calling OS thread ends; that the OS thread of another
// worker ends is an error. Null: nothing is done any more.
void watch_end_of_os_thread(worker* w) noexcept;

// Hands the identity of a thread over to another fiber. The root is the identity of the OS thread,
// or of the forked thread at the bottom; it lies beneath `root_frame` of the frames on the stack,
// which stay.
void move_identity(fiber& from, thread_identity& from_root, thread_frame const* root_frame,
                   fiber& to, thread_frame& to_root) noexcept;

} // namespace tulle::sched
