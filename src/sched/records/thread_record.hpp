// SPDX-License-Identifier: Apache-2.0
// A thread with a record of its own: it is joined in any order, or detached, and may be placed on a
// shepherd and named. It is run by whoever claims it first: the loop that takes it from a queue, or
// its joiner, who then runs it as a function call.
#pragma once

#include "sched/fiber.hpp"
#include "sched/records/join_word.hpp"
#include "sched/runnable.hpp"

#include <tulle/detail/reference_count.hpp>
#include <tulle/detail/thread_core.hpp>

namespace tulle::sched {

struct worker;

// The life of a thread:
//
//   new_thread    start_thread    claim                          finish         last reference
//       |              |            |                               |                 |
//       v              v            v                               v                 v
//     made -------> queued ----> running <--> waiting -----------> done ----------> freed
//       |
//       +---- discard_thread: the closure could not be built -----------------------> freed
//
// A queued thread is in one queue: a worker's, a shepherd's, or that of threads that wait for a
// stack.
// A joiner that claims it leaves the record there, unless it comes next: it is dropped when it is
// found (claimed_records.cpp). A waiting thread is a suspended fiber, in the hands of whoever will
// resume it.
// What tells the state, by field of thread_core:
//   claimed     false until somebody runs the thread. One exchange decides between the loop and the
//               joiner; it never goes back.
//   word        0: not done, and nobody waits for that. The address of a fiber: not done, and its
//               joiner waits. k_done: done; only finish() writes it, after the result.
//               k_abandoned: not done, and there is no handle any more (join_word.hpp).
//   references  2 when it is started: the queue's, which becomes the runner's, and the handle's. 1
//               when it is detached. The word tells whether runner or handle goes last: that one
//               drops both, so a thread that is joined counts nothing. A third one is the queue's
//               if the joiner runs it. The last one frees the record, and calls `close` for a
//               result that nobody took.
//   detached    there is no handle. The body drops the only reference before it begins: a detached
//               thread that runs has no record, and nobody is told of its end.
//   named       the table of names has an entry, which goes when the thread ends.
//   own_stack   it runs on a stack of stack_class that is made for it; else on the stack of the
//               loop or of the joiner.
//   run, close  null in a child process if the thread ran in the parent: its join throws
//               left_behind_error().
// While it runs, its identity is a thread_frame on the stack (fiber.hpp), whose at_end says what
// its end takes: k_has_name, a name to forget; k_has_values, values of keys to destroy;
// k_inherited, it ran when this process was forked off; k_is_bottom, the process ends with it.
// What it waits for is said by its fiber alone (fiber::waits_for).
// A forked thread has no record but a slot in a deque; its word is record::state (join.cpp).
struct thread_record : runnable, detail::thread_core {
    thread_record() noexcept : runnable(runnable_kind::thread) {}
};

// True for exactly one caller, which runs it. What the spawner wrote is visible to it through the
// queue or the handle.
[[nodiscard]] inline bool claim(thread_record& t) noexcept { return detail::claim(t.claimed); }
void end_record(thread_record& t) noexcept; // by the last reference
inline void drop_reference(thread_record& t) noexcept {
    if (detail::drop_reference(t.references)) end_record(t);
}
// The runner's and the handle's, by whichever goes last.
inline void drop_both_references(thread_record& t) noexcept {
    if (drop_both_references(t.references)) end_record(t);
}

// A joiner calls this that has claimed a thread whose record may be in a queue still. True: it has
// left the queue, and the queue's reference is the caller's. False: whoever takes it from its queue
// will drop that.
[[nodiscard]] bool leave_queue(worker& w, thread_record& t) noexcept;

// The claimer calls this, in its own frame: it runs the thread under its identity and ends it.
// Returns the waiter to go on with, or null. `t` is gone unless the caller holds a reference.
[[nodiscard]] fiber* run_thread(thread_record& t) noexcept;

// The identity of the thread that runs on `f`, on the calling OS thread.
[[nodiscard]] thread_identity& identity_of(fiber& f) noexcept;
// Destroys what a thread with a name or with values of keys has, while its identity is still that
// of the caller, and then forgets the identity.
void end_thread(thread_identity& thread) noexcept;

// What a join of a thread throws that ran in the parent process (modes/process_fork.cpp):
// std::system_error, ESRCH.
[[nodiscard]] std::exception_ptr left_behind_error() noexcept;
// Called in a child process: a thread that was running at the fork ends, after end_thread; at the
// bottom of its stack with the process.
void end_inherited(thread_frame& frame, bool is_bottom) noexcept;
[[noreturn]] void end_forked_process() noexcept;

// If nobody has started it and it may run here: as a function call of the caller's. False: it is
// somebody else's.
[[nodiscard]] bool try_run_in_place(thread_record& t) noexcept;

// A pool of records per worker. Null: no memory.
[[nodiscard]] thread_record* allocate_record(worker& w) noexcept;
// Frees the records that a worker has cached, and those that all have in common.
void free_cached_records(worker& w) noexcept;
void free_shared_records() noexcept;

} // namespace tulle::sched
