// SPDX-License-Identifier: Apache-2.0
// What stands at the bottom of every pooled stack: find work, run it, for ever. A loop may go on on
// another worker after each piece of work, since what it ran may have been suspended and resumed
// elsewhere, with the loop's frame beneath it.
#include "arch/rounding.hpp"
#include "sched/find_work.hpp"
#include "sched/records/join.hpp"
#include "sched/records/join_word.hpp"
#include "sched/scheduler.hpp"
#include "sched/switch_steps.hpp"

#include "base/error.hpp"

#include <tulle/schedule_point.hpp>

#include <utility>

namespace tulle::sched {

namespace {

// Post actions: run on the context that comes next, by the worker that made the switch.
void post_keep_as_spare(void* f, void*) noexcept {
    give_spare(*this_worker(), *static_cast<fiber*>(f));
}
void post_release_fiber(void* f, void*) noexcept {
    scheduler::instance().release_fiber(*static_cast<fiber*>(f));
}

// Goes on with a thread; the loop's stack becomes a spare.
TULLE_INLINE void switch_to_ready(fiber& f) noexcept {
    worker& w = *this_worker();
    switch_inline(w, f, {&post_keep_as_spare, w.current, nullptr});
}

// The thread that waited for what has just ended. If this worker may run it, at once; it has waited
// longest. True: this loop was a spare meanwhile, and what it is to do may have been left to it.
TULLE_INLINE bool go_on_with(fiber* waiter) noexcept {
    if (waiter == nullptr) return false;
    worker& w = *this_worker();
    bool const may_run_here = waiter->kind_of_stack != fiber_kind::guest &&
                              (waiter->home == nullptr || waiter->home == &w) &&
                              w.may_run(waiter->shepherd);
    if (!may_run_here) {
        resume(*waiter);
        return false;
    }
    waiter->clear_wait();
    switch_to_ready(*waiter);
    return true;
}

// Whether a worker that has come to the end of something must look elsewhere, as the loop does,
// before it goes on with what is next here.
TULLE_INLINE bool loop_is_needed(worker const& w) noexcept {
    return !w.mailbox.looks_empty() || w.probe.is_set();
}

// After the end of a thread that was started at once (start_at_once): if what is next here has a
// stack it goes on at once. That is mostly the spawner. Its start was a decision; this is none, or
// who starts threads again and again would make each second one, and never the one that is to be
// the loop's.
TULLE_INLINE void go_on_with_next(loop_control const& own) noexcept {
    worker& w = *this_worker();
    if (loop_is_needed(w) || !w.spares.has_room()) return;
    runnable* const next = w.ready.begin_pop(runnable_kind::fiber);
    if (next == nullptr) return;
    w.spares.put(*w.current); // nobody takes it before its registers are saved
    switch_from_loop(w, static_cast<fiber&>(*next), own);
}

// Children that were joined out of order leave records in the middle of the deque; and a large
// deque is not kept.
TULLE_COLD void clean_deques(fiber& f) noexcept {
    if (!discard_joined_records(f))
        base::fatal("a thread ends with forked threads that it has not joined; did it spawn into a "
                    "scope that another one has made?");
    if (f.records->older != nullptr) scheduler::instance().close_deques(f);
}

// The thread that is about to run on this loop's stack, with its identity if it has one, is
// measured.
template <bool measures> TULLE_INLINE void begin_use() noexcept {
    if constexpr (measures) clear_unused(this_worker()->current->stack);
}
template <bool measures>
TULLE_INLINE void end_use(fiber const& f, void const* site, bool is_forked, thread_id id) noexcept {
    if constexpr (measures) scheduler::instance().note_use(f, site, is_forked, id);
}

template <bool measures> TULLE_INLINE void run_stolen(record& slot) noexcept {
    {
        worker& w = *this_worker();
        w.owner->shortage().begin_stolen(w, slot);
        fiber& before = *w.current;
        before.runs_record = true;
        before.stolen = &slot;
    }
    schedule_point();
    [[maybe_unused]] auto* const function = slot.run; // its joiner may change it
    begin_use<measures>();
    arch::begin_rounding();
    slot.run(&slot);
    // Another one in a child process.
    fiber& f = *this_worker()->current;
    // modes/process_fork.cpp.
    if (TULLE_UNLIKELY(f.kind_of_stack == fiber_kind::guest)) end_forked_process();
    f.runs_record = false;
    f.stolen = nullptr;
    end_use<measures>(f, reinterpret_cast<void const*>(function), true, f.base.id);
    if (TULLE_UNLIKELY(f.base.id != 0)) end_thread(f.base);
    f.shepherd = -1; // it may have migrated
    if (f.records != nullptr && (!f.records->is_empty() || f.records->older != nullptr))
        clean_deques(f);
    this_worker()->owner->shortage().end_stolen(f);
    static_cast<void>(go_on_with(reinterpret_cast<fiber*>(join_word(slot.state).finish())));
}

// run_thread at the bottom of a stack; `t` is gone then.
template <bool measures> TULLE_INLINE fiber* run_at_bottom(thread_record& t) noexcept {
    if constexpr (measures) {
        void const* const site = t.site;
        thread_id const id = t.id;
        begin_use<measures>();
        fiber* const waiter = run_thread(t);
        end_use<measures>(*this_worker()->current, site, false, id);
        return waiter;
    } else {
        return run_thread(t);
    }
}

// True as from go_on_with.
template <bool measures> TULLE_INLINE bool run_started(thread_record& t) noexcept {
    fiber& f = *this_worker()->current;
    f.shepherd = t.shepherd; // also after its waits
    fiber* const waiter = run_at_bottom<measures>(t);
    f.shepherd = -1;
    if (f.records != nullptr && (!f.records->is_empty() || f.records->older != nullptr))
        clean_deques(f);
    return go_on_with(waiter);
}

template <bool measures> TULLE_INLINE void start_thread_record(thread_record& t) noexcept {
    if (!claim(t)) return drop_reference(t);
    worker& w = *this_worker();
    w.owner->shortage().begin_thread(w);
    fiber* const f = t.own_stack ? w.owner->make_thread_fiber(w, t) : nullptr;
    // Where there is no memory for its stack this one will have to do.
    if (f == nullptr) {
        arch::begin_rounding();
        return static_cast<void>(run_started<measures>(t));
    }
    switch_inline(w, *f, {&post_keep_as_spare, w.current, nullptr});
}

template <bool measures> TULLE_INLINE void run(work const& next) noexcept {
    if (record* const slot = next.stolen()) return run_stolen<measures>(*slot);
    runnable& ready = *next.ready();
    if (ready.kind == runnable_kind::fiber) return switch_to_ready(static_cast<fiber&>(ready));
    start_thread_record<measures>(static_cast<thread_record&>(ready));
}

template <bool measures> TULLE_INLINE void loop() noexcept {
    first_switch();
    arch::begin_inexact();
    loop_control const own;
    for (;;) {
        worker& w = *this_worker();
        if (thread_record* const begun = std::exchange(w.begins, nullptr)) {
            if constexpr (!loop_control::k_begins_rounding) arch::begin_rounding();
            if (!run_started<measures>(*begun)) go_on_with_next(own);
            continue;
        }
        work const next = find_work(w);
        if (!next.is_stop())
            run<measures>(next);
        else
            switch_inline(w, *w.native, {&post_keep_as_spare, w.current, nullptr});
    }
}

// After the end of a thread with a stack of its own: what is next here goes on at once, if it has a
// stack; mostly the spawner of a thread that was started at once. Null: the loop is to look.
TULLE_INLINE fiber* next_at_once(worker& w) noexcept {
    return loop_is_needed(w) ? nullptr : static_cast<fiber*>(w.ready.pop_if(runnable_kind::fiber));
}

// The caller's thread has ended. If the next thread of its size may go on here, and somebody waits
// to go on meanwhile, mostly the spawner: that thread. To make a fiber for each, and to give it
// back, takes longer than all else of a short thread. Null: the fiber is to be released. Out of
// line, so that a thread on the smallest stack has all that it had.
TULLE_NOINLINE thread_record* await_next_of_size(worker& w, fiber& self,
                                                 loop_control const& own) noexcept {
    if (w.kept != nullptr || loop_is_needed(w) || self.stack.size > scheduler::k_most_kept ||
        w.owner->stacks().is_short())
        return nullptr;
    runnable* const next = w.ready.begin_pop(runnable_kind::fiber);
    if (next == nullptr) return nullptr;
    self.alive.store(0, std::memory_order_relaxed); // relaxed: as in set_wait
    w.kept = &self; // the worker takes it when it has switched, and not before
    switch_from_loop(w, static_cast<fiber&>(*next), own);
    worker& here = *this_worker();
    here.begins_with.give_to_caller();
    return std::exchange(here.begins_on_kept, nullptr);
}

template <bool measures> TULLE_INLINE void run_on_own_stack(void* argument) noexcept {
    first_switch();
    loop_control const own;
    auto* t = static_cast<thread_record*>(argument);
    while (t != nullptr) {
        arch::begin_rounding();
        fiber* const waiter = run_at_bottom<measures>(*t);
        fiber& self = *this_worker()->current;
        if (self.records != nullptr) clean_deques(self);
        if (waiter != nullptr) resume(*waiter);
        t = measures ? nullptr : await_next_of_size(*this_worker(), self, own);
    }
    worker& w = *this_worker();
    fiber* next = next_at_once(w);
    if (next == nullptr) next = &take_spare(w);
    leave_to(w, *next, &post_release_fiber, w.current, nullptr);
    base::fatal("a stack that was given back has been resumed");
}

} // namespace

void loop_main(void*) { loop<false>(); }
void measuring_loop_main(void*) { loop<true>(); }
void own_stack_main(void* argument) { run_on_own_stack<false>(argument); }
void measuring_own_stack_main(void* argument) { run_on_own_stack<true>(argument); }

} // namespace tulle::sched
