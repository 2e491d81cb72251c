// SPDX-License-Identifier: Apache-2.0
// Switching between fibers, and the two calls under every wait: suspend the caller, resume a fiber.
//   suspend(post, a, b)  the caller stops; post(a, b) runs when its registers are saved, on the
//                        next context, and may publish the caller to whoever will resume it (store
//                        it in a queue, release the lock of that queue, ...). Returns when resumed.
//   resume(fiber)        exactly once for each suspend; by any thread of the process, even before
//                        the suspended one has left its stack's frame of suspend(), never before
//                        post() has published it.
// Memory ordering: what happens before resume(f) happens before f returns from suspend().
#pragma once

#include "sched/worker.hpp"

#include <tulle/detail/thread_core.hpp>

namespace tulle::sched {

using post_function = void (*)(void*, void*);

// The fiber that the caller stands on; attaches a foreign OS thread as a guest, and starts the run
// time if need be. Ends the program with a message when that fails.
[[nodiscard]] fiber& this_fiber() noexcept;
// The scheduler, which runs then: for calls that would have nothing to tell before. As above.
[[nodiscard]] scheduler& running_scheduler() noexcept;

void suspend(post_function post, void* a, void* b) noexcept;
void resume(fiber& f) noexcept;

// Lets other ready threads of this worker go first. Guests: gives the processor up. errno of a
// thread with variables of its own stays as it is.
void yield() noexcept;

// suspend() on a worker, but the next context is an idle loop even if other threads are ready.
void suspend_to_loop(post_function post, void* a, void* b) noexcept;
// The first thing that runs on a fresh stack.
void first_switch() noexcept;

// A thread on a worker, without exceptions in flight: from now on its thread-local variables are
// those that `thread_pointer` leads to, and no other thread's. Null: those of the worker that runs
// it; a thread must have taken these when it ends.
void take_variables(void* thread_pointer) noexcept;
// detail::yield_to_thread to one that takes these at its beginning: if it gets a stack of its own,
// and the caller has variables of its own, too, it has them already.
[[nodiscard]] detail::yielded yield_to_thread(detail::thread_core* t,
                                              void* thread_pointer) noexcept;

// Runs `to` in place of the current fiber for good, and `post` as suspend() does.
void leave_to(worker& w, fiber& to, post_function post, void* a, void* b) noexcept;
// A fiber whose bottom frame is an idle loop, never null: a worker that runs records keeps one in
// reserve (reserve_spare).
[[nodiscard]] fiber& take_spare(worker& w) noexcept;
// Makes sure that the worker could suspend what it is about to run. False: no memory for another
// stack.
[[nodiscard]] bool reserve_spare(worker& w) noexcept;
void give_spare(worker& w, fiber& f) noexcept;

} // namespace tulle::sched
