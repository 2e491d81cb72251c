// SPDX-License-Identifier: Apache-2.0
// What a worker does when there is no stack for another thread. The argument why work goes on:
// src/sched/modes/stack_shortage.md.
//   E1 A worker that runs a thread has a spare: the thread can wait. Without a spare a worker
//   starts nothing, it only goes on with threads that have a stack already (take_started).
//   E2 Each worker keeps one stack in reserve that nobody else may take; what comes free goes there
//   first.
//   E3 Threads start in the order in which they were spawned: they wait in one queue for all
//   workers (queue_unstarted).
//   E4 A thread whose wait would leave its worker without a spare first runs the records of its own
//   stack, oldest first, on top of itself.
#include "sched/modes/stack_shortage.hpp"

#include "base/error.hpp"
#include "sched/records/join.hpp"
#include "sched/records/join_word.hpp"
#include "sched/scheduler.hpp"

namespace tulle::sched {

namespace {

// The first of the deques above the floor that others could still take from: it has the oldest
// records.
record_deque* oldest_left(record_deque* newest) noexcept {
    record_deque* found = nullptr;
    for (record_deque* d = newest; d != nullptr; d = d->is_floor ? nullptr : d->older) {
        if (d->looks_stealable()) found = d;
    }
    return found;
}

// Empties the floor, and closes what is above it: a record that ran on top has come to its end.
void clear_floor(fiber& f, record_deque& floor) noexcept {
    for (;; scheduler::instance().close_newest_deque(f)) {
        if (!discard_joined_records(*f.records))
            base::fatal("a thread ends with forked threads that it has not joined; did it spawn "
                        "into a scope that another one has made?");
        if (f.records == &floor) return;
    }
}

// False: the oldest one was joined already.
bool run_oldest(parked_deques& parked, record_deque& oldest, record_deque& floor) noexcept {
    record_owner(oldest).share_all();
    record* const slot = record_thief(oldest).steal();
    if (slot == nullptr) { // a thief is at it
        os::machine::pause();
        return true;
    }
    bool const was_joined = is_joined(*slot);
    parked.remove(floor); // where it stood by its old origin
    floor.origin = &oldest;
    floor.origin_slot = slot;
    slot->run(slot);
    auto* const waiter = reinterpret_cast<fiber*>(join_word(slot->state).finish());
    if (waiter != nullptr) resume(*waiter);
    return !was_joined;
}

} // namespace

bool stack_shortage::prepare(worker& w) noexcept {
    if (is_on()) count_stacks(w);
    return reserve_spare(w) && keep_reserve(w);
}

bool stack_shortage::keep_reserve(worker& w) noexcept {
    if (w.spares.has_reserve()) return true;
    fiber* const f = m_scheduler.make_loop_fiber(w);
    if (f == nullptr) return false;
    w.spares.set_reserve(*f);
    return true;
}

void stack_shortage::count_stacks(worker& w) noexcept {
    w.spares.keep_one(); // what comes free is for all
    w.keeps_spawned = false;
}

fiber* stack_shortage::take_reserve(worker& w) noexcept {
    count_stacks(w);
    return static_cast<fiber*>(w.spares.take_reserve());
}

// The deque of the stack may still be in the list of parked ones, where it stood by its old origin.
TULLE_COLD void stack_shortage::note_origin(worker& w, record const* slot) noexcept {
    fiber& f = *w.current;
    f.origin = slot != nullptr ? w.stolen_from : nullptr;
    f.origin_slot = slot;
    if (f.records == nullptr) return;
    m_scheduler.m_parked.remove(*f.records);
    f.records->origin = f.origin;
    f.records->origin_slot = slot;
}

// Out of the list, where it might stay while it is empty: a thread that compares positions follows
// `origin`, and the parent's may change as soon as the parent knows.
TULLE_COLD void stack_shortage::forget_origin(fiber& f) noexcept {
    if (f.records != nullptr) m_scheduler.m_parked.remove(*f.records);
}

void stack_shortage::queue_unstarted(runnable& r) noexcept {
    m_scheduler.m_injector.push_unstarted(r);
    m_scheduler.notify_all_idle();
}

// Threads that have not started are left to others.
runnable* stack_shortage::take_started(worker& w) noexcept {
    scheduler& s = m_scheduler;
    runnable* r = s.take_local(w);
    for (; r != nullptr && r->kind != runnable_kind::fiber; r = s.take_local(w)) {
        int const shepherd = static_cast<thread_record*>(r)->shepherd;
        shepherd < 0 ? queue_unstarted(*r) : s.inject(*r, shepherd);
    }
    return r != nullptr ? r : take_started_elsewhere(w);
}

runnable* stack_shortage::take_started_elsewhere(worker& w) noexcept {
    return m_scheduler.m_injector.take_started(*w.home);
}

// Two spares: one to go on with, and one more for what that starts.
bool stack_shortage::can_go_on_without(worker& w) noexcept {
    if (w.spares.size() > 1 || w.spares.has_reserve()) return true;
    fiber* const f = m_scheduler.make_loop_fiber(w);
    if (f == nullptr) return false;
    give_spare(w, *f);
    return true;
}

bool stack_shortage::may_run_on_top_of_wait(worker const& w) const noexcept {
    return is_on() && w.current->records != nullptr;
}

void stack_shortage::make_room(fiber& f) noexcept {
    worker& w = *this_worker();
    if (w.is_guest() || !can_go_on_without(w)) run_own_records(f);
}

// Oldest first, so that each finds done what a serial run would have done before it. Younger than a
// joined one: not, as that may wait below.
// They fork into a deque of their own, the floor, so that a wait of theirs comes to their own
// records only.
void stack_shortage::run_own_records(fiber& f) noexcept {
    record_deque* const newest = f.records;
    if (oldest_left(newest) == nullptr) return;
    m_scheduler.m_parked.add(*newest, true); // others may help
    record_deque* const floor = m_scheduler.open_deque(f, 0);
    if (floor == nullptr) return;
    floor->is_floor = true;
    m_scheduler.show_deque(*this_worker(), floor);
    for (record_deque* from = oldest_left(newest);
         from != nullptr && run_oldest(m_scheduler.m_parked, *from, *floor);
         from = oldest_left(newest))
        clear_floor(f, *floor);
    clear_floor(f, *floor);
    m_scheduler.close_newest_deque(f);
}

} // namespace tulle::sched
