// SPDX-License-Identifier: Apache-2.0
// A qthread is a native thread. What its fork says of it lies in the record of the native thread
// (birth), and what it does not say in a block from the heap, if there is anything such (copied
// arguments, preconditions, a team). What belongs to the qthread while it runs lies in its first
// frame (task), to which the attachment of its stack points.
// The thread that initialised the library has a task as well, the main one; other OS threads have
// none.
// Who reads the result of a qthread that it has forked itself, and that nobody has begun, runs it
// in its own frame (pending_results.hpp); all others are detached.
#pragma once

#include "compat/qthread/threads/pending_results.hpp"
#include "compat/qthread/threads/team.hpp"

#include <qthread/barrier.h>
#include <qthread/qthread.h>

#include <cstddef>
#include <cstdlib>

namespace tulle::compat {

struct task {
    task() noexcept = default;
    task(task const&) = delete;
    task& operator=(task const&) = delete;
    ~task() { std::free(grown); }

    void* result = nullptr; // a word, a syncvar or a sinc, as `flags` says
    unsigned flags = 0;
    unsigned id = QTHREAD_NON_TASK_ID; // drawn when asked for
    bool is_main = false;
    bool blocks = false;     // between qt_begin_blocking_action() and qt_end_blocking_action()
    int lender = -1;         // meanwhile, the native worker that has lent its number; -1: none has
    unsigned local_size = 0; // bytes of local memory that the qthread may have without asking
    void* local = nullptr;   // of that size; in its frame, or `grown`; null: made when asked for
    void* grown = nullptr;
    membership team;
    qt_barrier_t* barrier = nullptr;
    pending_results pending;
};

// Who calls; null: an OS thread that is neither a worker nor the one that initialised, or a native
// thread.
[[nodiscard]] task* self() noexcept;
// From now on; null: none.
void set_self(task* t) noexcept;

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

// What its record holds of a thread that has not begun. Called, it is the qthread from its first
// instruction to its last.
struct birth {
    qthread_f function = nullptr;
    void* argument = nullptr; // or a block: task.cpp
    void* result = nullptr;
    unsigned flags = 0; // and what the argument is

    void operator()() const noexcept;
};

} // namespace tulle::compat
