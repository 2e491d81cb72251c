// SPDX-License-Identifier: Apache-2.0
// fork(2), as seen by the scheduler. In the child there is one OS thread, the caller, and no run
// time: workers, threads and stacks of the parent are left alone as they were, unreachable for
// anything that starts there. The caller becomes a guest with the identity, the names and the
// forked children that it had, on the stack that it stands on; the first use starts a new run time.
//   - A child that nobody had stolen is run by its join. One that a thief had is lost: its join
//     throws (ESRCH).
//   - A thread with a handle that had not started is run by its join; one that had is lost,
//     likewise.
//   - When the caller was a Tulle thread, the frames below it are in the child, too, down to the
//     bottom of its stack. There the child ends, as a process does whose last thread ends: exit(0).
// The handlers of pthread_atfork (runtime/runtime.cpp) call prepare, in_parent and in_child, with
// the lock of the run time held.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/thread_core.hpp>

namespace tulle::sched {

class scheduler;
struct fiber;
struct runnable;
struct worker;

class process_fork {
public:
    explicit process_fork(scheduler& owner) noexcept : m_scheduler(owner) {}
    process_fork(process_fork const&) = delete;
    process_fork& operator=(process_fork const&) = delete;

    // Takes the locks of all that the caller leaves unchanged in the child.
    void prepare() noexcept;
    void in_parent() noexcept;
    void in_child() noexcept;

    // Whether this process was forked off one that had a run time.
    [[nodiscard]] bool is_in_child() const noexcept { return m_remains != nullptr; }
    // Whether a thread of this number belongs to the process that this one was forked off.
    [[nodiscard]] bool is_of_parent(thread_id id) const noexcept { return id < m_first_id; }
    // Whether `r` waited in the parent for something that the caller, which is a copy of another
    // thread, has done. It is not there.
    [[nodiscard]] bool is_of_parent(runnable const& r) const noexcept {
        return TULLE_UNLIKELY(is_in_child()) && stands_on_stack_of_parent(r);
    }
    // False on the stack of a thread of the parent process.
    [[nodiscard]] static bool may_adopt_caller() noexcept;

private:
    [[nodiscard]] bool stands_on_stack_of_parent(runnable const& r) const noexcept;
    void become_guest(worker& old) noexcept;
    void leave_behind() noexcept;

    scheduler& m_scheduler;
    void* m_remains = nullptr; // in a child process: what the parent's workers used
    thread_id m_first_id = 0;
};

} // namespace tulle::sched
