// SPDX-License-Identifier: Apache-2.0
// A qthread: what it runs, what becomes of its result, and what belongs to it. One block of memory
// with the copy of its argument and its local memory behind it; freed by the qthread when it ends.
// A qthread is a detached native thread. While it runs, the attachment of its stack points to its
// task. The thread that initialised the library has a task as well, the main one; other OS threads
// have none.
#pragma once

#include <qthread/barrier.h>
#include <qthread/qthread.h>

#include <cstddef>

namespace tulle::compat {

struct team; // team.hpp

struct task {
    qthread_f function = nullptr;
    void* argument = nullptr;
    void* result = nullptr; // a word, a syncvar or a sinc, as `flags` says
    unsigned flags = 0;
    unsigned id = QTHREAD_NON_TASK_ID; // drawn when asked for
    bool is_main = false;
    bool leads = false; // its team
    // Between qt_begin_blocking_action() and qt_end_blocking_action()
    bool blocks = false;
    team* of = nullptr;                  // null: the default team
    aligned_t** preconditions = nullptr; // their number, and as many addresses
    unsigned local_size = 0;
    void* local = nullptr; // behind the task, or `grown`
    void* grown = nullptr; // local memory that was asked for and is larger
    qt_barrier_t* barrier = nullptr;
};

// Who calls; null: an OS thread that is neither a worker nor the one that initialised, or a native
// thread.
[[nodiscard]] task* self() noexcept;

// Null: no memory. With `copied` bytes the argument is copied.
[[nodiscard]] task* make_task(qthread_f f, void const* argument, std::size_t copied) noexcept;
void free_task(task* t) noexcept;

// Puts the value where `flags` say that results go; waits until there is room. `result` null:
// nowhere.
void deliver(void* result, unsigned flags, aligned_t value) noexcept;

// A thread of the default team with a full/empty result, for other parts of the face. `site`: where
// it is said to be forked.
struct fork_request {
    qthread_f function = nullptr;
    void const* argument = nullptr;
    std::size_t copied = 0;
    void* result = nullptr;
    aligned_t** preconditions = nullptr;
    qthread_shepherd_id_t shepherd = NO_SHEPHERD;
    unsigned flags = 0;
};
[[nodiscard]] int fork(fork_request const& wanted, void const* site) noexcept;

} // namespace tulle::compat
