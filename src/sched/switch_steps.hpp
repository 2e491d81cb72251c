// SPDX-License-Identifier: Apache-2.0
// The steps of a switch, for those who make one in their own frame. Besides switch.cpp these are
// the loops: they are left and come back all the time, and with no call around the switch there is
// no return behind it, which the processor would predict by the calls of whatever ran in between.
#pragma once

#include "sched/find_work.hpp"
#include "sched/scheduler.hpp"
#include "sched/worker.hpp"

namespace tulle::sched {

using loop_control = arch::control_at_rest<arch::backend>;

// The first thing that a resumed context does. `run_post` calls what whoever switched has left.
template <class RunPost> TULLE_INLINE void after_switch(RunPost run_post) noexcept {
    worker& w = *this_worker();
    arch::after_switch(w.current->sanitizer);
    if (w.post.run == nullptr)
        w.ready.end_switch(); // it was locked by whoever switched
    else
        run_post(post_action(w.post)); // a copy, as another switch may follow
}
TULLE_INLINE void after_switch() noexcept {
    after_switch([](post_action const& post) { post.run(post.a, post.b); });
}

// No parameter is an object in memory: the address sanitizer would fence it off on a stack that is
// left for good.
TULLE_INLINE void leave(worker& w, fiber& from, fiber& to, bool is_ending) noexcept {
    w.current = &to;
    if (from.records != to.records) w.owner->show_deque(w, to.records);
    arch::swap(from.exceptions, to.exceptions, w.exception_globals);
    arch::before_switch(from.sanitizer, to.sanitizer, is_ending);
}

// The way of a fiber with thread-local variables of its own.
TULLE_NOINLINE void switch_with_variables(worker& w, fiber& to) noexcept;

TULLE_INLINE void switch_inline(worker& w, fiber& to, post_action post,
                                bool is_ending = false) noexcept {
    fiber& from = *w.current;
    w.post = post;
    if (TULLE_UNLIKELY(from.thread_pointer != nullptr)) return switch_with_variables(w, to);
    leave(w, from, to, is_ending);
    arch::backend::switch_to(from.context, to.context);
    after_switch();
}

// The caller has begun a switch of the ready queue, which is locked (queues/ready_queue.hpp).
// `tell`: others are to be told of what it has put there.
void post_end_switch_and_tell(void*, void*) noexcept;
TULLE_INLINE void switch_with_queue(worker& w, fiber& to, bool tell) noexcept {
    switch_inline(w, to, {tell ? &post_end_switch_and_tell : nullptr, nullptr, nullptr});
}

// The same by a loop, after a thread: it goes on with the control words that it began with.
TULLE_INLINE void switch_from_loop(worker& w, fiber& to, loop_control const& own) noexcept {
    fiber& from = *w.current;
    w.post = {nullptr, nullptr, nullptr};
    leave(w, from, to, false);
    own.switch_to(from.context, to.context);
    after_switch();
}

// Counts a decision of the worker. False: it is the loop's, which probes for other work first.
[[nodiscard]] TULLE_INLINE bool loop_may_be_passed(worker& w) noexcept {
    if (w.decisions.advance() % k_decisions_per_probe == 0) w.probe.set();
    return TULLE_LIKELY(!w.probe.is_set());
}

} // namespace tulle::sched
