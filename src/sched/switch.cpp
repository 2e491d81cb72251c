// SPDX-License-Identifier: Apache-2.0
#include "sched/switch.hpp"

#include "arch/float_environment.hpp"
#include "arch/thread_pointer.hpp"
#include "base/error.hpp"
#include "base/kept_errno.hpp"
#include "sched/cancellation.hpp"
#include "sched/find_work.hpp"
#include "sched/modes/guest_wait.hpp"
#include "sched/scheduler.hpp"
#include "sched/switch_steps.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tulle::sched {

namespace {

// The calling OS thread has these thread-local variables from now on.
TULLE_INLINE void change_variables(worker& w, void* thread_pointer, record_deque* deque) noexcept {
    write_current_beside(thread_pointer, w, deque);
    arch::set_thread_pointer(thread_pointer);
}

// The post action of a yield to something that only this worker may run, or that is not known yet:
// another worker may sleep because there was nothing for it, and now there is. Placed threads wait
// where only workers of their shepherd take them.
void post_push_back(void* pending, void*) noexcept {
    worker& w = *this_worker();
    auto& f = *static_cast<fiber*>(pending);
    if (f.shepherd >= 0) return w.owner->inject(f, f.shepherd);
    w.ready.push_back(f);
    w.owner->notify_light();
}

TULLE_INLINE void make_ready_here(worker& w, fiber& f) noexcept {
    bool const is_bound = f.home != nullptr; // once it is published it may be gone
    w.ready.push_back(f);
    w.owner->notify_light();
    if (TULLE_UNLIKELY(is_bound)) w.owner->idle().tell_watcher(); // nobody else may run it
}

// Where it is to go is not known, or whether it is there at all.
TULLE_COLD void resume_with_care(fiber& f, bool is_at_home) noexcept {
    if (f.kind_of_stack == fiber_kind::guest) return f.wake.resume();
    scheduler& s = scheduler::instance();
    if (s.around_fork().is_of_parent(f)) return;
    if (!is_at_home) return s.post_to_mailbox(*f.home, f);
    worker* const w = this_worker();
    if (w == nullptr || w->is_guest() || f.shepherd >= 0) return s.inject(f, f.shepherd);
    if (w->gathers_events) {
        ++w->gathered;
        return w->ready.push_back(f);
    }
    make_ready_here(*w, f);
}

// A thread of the ready queue that can be switched to at once.
fiber* next_fiber(worker& w) noexcept {
    return loop_may_be_passed(w) ? static_cast<fiber*>(w.ready.pop_if(runnable_kind::fiber))
                                 : nullptr;
}

TULLE_COLD void yield_cold(worker& w, fiber& self) noexcept {
    if (w.run != nullptr) return w.run->yield();
    if (w.probe.is_set() || w.owner->has_other_work(w)) suspend(&post_push_back, &self, nullptr);
}

// errno is the thread's own then. A yield that finds the next thread at once does not touch it.
TULLE_COLD void yield_cold_and_keep_errno(worker& w, fiber& self) noexcept {
    base::kept_errno const kept;
    yield_cold(w, self);
}

} // namespace

void first_switch() noexcept { after_switch(); }

void post_end_switch_and_tell(void*, void*) noexcept {
    worker& w = *this_worker();
    w.ready.end_switch();
    w.owner->notify_light();
}

// errno is the thread's own, and the action is another's.
TULLE_NOINLINE void run_post_and_keep_errno(post_action const& post) noexcept {
    base::kept_errno const kept;
    post.run(post.a, post.b);
}

// The way of a fiber with thread-local variables of its own, out of line. It leaves those of the
// next fiber behind. One that has none switches to it by the short way, which knows nothing of
// this, so it may have to change them itself when it goes on. As a thread of the C library it has
// its own flags of floating-point exceptions, too.
void switch_with_variables(worker& w, fiber& to) noexcept {
    fiber& self = *w.current;
    arch::float_flags const flags;
    leave(w, self, to, false);
    change_variables(w, to.thread_pointer != nullptr ? to.thread_pointer : w.thread_pointer,
                     to.records);
    arch::backend::switch_to(self.context, to.context);
    if (arch::thread_pointer() != self.thread_pointer)
        change_variables(*this_worker(), self.thread_pointer, self.records);
    flags.give_to_caller();
    after_switch(&run_post_and_keep_errno);
}

TULLE_NOINLINE void take_variables(void* thread_pointer) noexcept {
    worker& w = *this_worker();
    fiber& self = *w.current;
    self.thread_pointer = thread_pointer;
    change_variables(w, thread_pointer != nullptr ? thread_pointer : w.thread_pointer,
                     self.records);
}

void leave_to(worker& w, fiber& to, post_function post, void* a, void* b) noexcept {
    switch_inline(w, to, {post, a, b}, true);
}

void suspend_to_loop(post_function post, void* a, void* b) noexcept {
    worker& w = *this_worker();
    if (w.current->records != nullptr) w.owner->park_records(*w.current);
    switch_inline(w, take_spare(w), {post, a, b});
}

void suspend(post_function post, void* a, void* b) noexcept {
    worker* w = this_worker();
    fiber& self = *w->current;
    if (TULLE_UNLIKELY(w->is_guest())) return wait_as_guest(*w, self, post, a, b);
    ++w->suspends;
    if (TULLE_UNLIKELY(self.records != nullptr)) {
        w->owner->leave_records(self);
        w = this_worker(); // it may have run some of them
    }
    fiber* next = next_fiber(*w);
    if (next == nullptr) next = &take_spare(*w);
    switch_inline(*w, *next, {post, a, b});
}

void resume(fiber& f) noexcept {
    worker* const w = this_worker();
    f.clear_wait();
    bool const is_at_home = f.home == nullptr || f.home == w;
    if (TULLE_UNLIKELY(!is_at_home || w == nullptr || !w->keeps_resumed || f.shepherd >= 0))
        return resume_with_care(f, is_at_home);
    make_ready_here(*w, f);
}

void yield() noexcept {
    worker* const w = this_worker();
    if (TULLE_UNLIKELY(w == nullptr || w->is_guest())) return os::machine::yield_processor();
    fiber& self = *w->current;
    // A placed thread waits elsewhere.
    bool const may_rotate =
        self.shepherd < 0 && (self.records == nullptr || !self.records->looks_stealable());
    if (TULLE_UNLIKELY(w->decisions.advance() % k_decisions_per_probe == 0)) w->probe.set();
    if (TULLE_LIKELY(may_rotate && !w->probe.is_set())) {
        if (runnable* const next = w->ready.begin_rotation(self, runnable_kind::fiber)) {
            // If only this worker may run the next one, another could run this one now.
            bool const tell = next->bound && w->owner->idle().somebody_sleeps();
            return switch_with_queue(*w, static_cast<fiber&>(*next), tell);
        }
    }
    if (self.thread_pointer != nullptr) return yield_cold_and_keep_errno(*w, self);
    yield_cold(*w, self);
}

fiber& take_spare(worker& w) noexcept {
    if (w.spares.empty() && !reserve_spare(w))
        base::fatal("no memory for the stack of a waiting thread (%s); "
                    "lower TULLE_STACK_SIZE or raise vm.max_map_count",
                    std::strerror(errno));
    return static_cast<fiber&>(w.spares.take());
}

bool reserve_spare(worker& w) noexcept {
    if (!w.spares.empty()) return true;
    fiber* f = w.owner->make_loop_fiber(w);
    if (f == nullptr) f = w.owner->shortage().take_reserve(w);
    if (f == nullptr) return false;
    w.spares.put(*f);
    return true;
}

void give_spare(worker& w, fiber& f) noexcept {
    w.spares.put(f);
    if (w.spares.is_full()) w.owner->return_spares(w);
}

} // namespace tulle::sched
