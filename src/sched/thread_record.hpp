// SPDX-License-Identifier: Apache-2.0
// A thread with a record of its own: joined in any order, detached, placed, named. Started by whoever claims it first: the loop that takes
// it from a queue, or its joiner, who then runs it as a function call.
// Two references: the queue's, which becomes the runner's, and the handle's. The last one frees it.
#pragma once

#include "sched/fiber.hpp"
#include "sched/runnable.hpp"

#include <tulle/detail/reference_count.hpp>
#include <tulle/detail/thread_core.hpp>

namespace tulle::sched {

struct worker;

struct thread_record : runnable, detail::thread_core {
    thread_record() noexcept : runnable(runnable_kind::thread) {}
};

// True for exactly one caller, which runs it. What the spawner wrote is visible to it through the queue or the handle.
[[nodiscard]] inline bool claim(thread_record& t) noexcept { return detail::claim(t.claimed); }
void drop_reference(thread_record& t) noexcept;

// By a joiner that has claimed a thread whose record may be in a queue still. True: it is not any more, and the queue's reference is the
// caller's. False: whoever takes it from its queue will drop that.
[[nodiscard]] bool leave_queue(worker& w, thread_record& t) noexcept;

// By the claimer, in its own frame: runs the thread under its identity and ends it. The waiter to go on with, or null; `t` is gone unless
// the caller holds a reference.
[[nodiscard]] fiber* run_thread(thread_record& t) noexcept;

// Who the thread is that runs on `f`, on the calling OS thread.
[[nodiscard]] thread_identity& identity_of(fiber& f) noexcept;
// What the end of a thread with a name or with values of keys takes; its identity is still that of the caller. Forgets the identity.
void end_thread(thread_identity& thread) noexcept;

// What a join of a thread throws that ran in the parent process (process_fork.cpp): std::system_error, ESRCH.
[[nodiscard]] std::exception_ptr left_behind_error() noexcept;
// In a child process: a thread that was running at the fork ends, after end_thread; at the bottom of its stack with the process.
void end_inherited(thread_frame& frame, bool is_bottom) noexcept;
[[noreturn]] void end_forked_process() noexcept;

// If nobody has started it and it may run here: as a function call of the caller's. False: it is somebody else's.
[[nodiscard]] bool try_run_in_place(thread_record& t) noexcept;

// A pool of records per worker. Null: no memory.
[[nodiscard]] thread_record* allocate_record(worker& w) noexcept;
// Frees the records that a worker has cached.
void free_cached_records(worker& w) noexcept;

} // namespace tulle::sched
