// SPDX-License-Identifier: Apache-2.0
// The steps of idle_set.hpp in their order: what a worker does around its sleep, and what makers of
// work do after they have published some.
// `Work` is the source of work. It has these functions:
//   bool set_wake_flags() noexcept   sets all wake flags: a thread that publishes a record from now
//                                    on checks the idle set (B1). False: there are none; who makes
//                                    one later finds the caller announced, and sets it
//   bool something_to_do() noexcept  called by a worker that has announced its sleep, after a fence
//                                    (H2, B2)
//   bool others_make_work(bool is_announced) noexcept
//                                    whether anyone but the caller, who has announced its sleep or
//                                    is awake, may be making work who does not make a full fence
//                                    behind it: a worker that is awake, an OS thread that has a
//                                    deque, another place
//   bool can_start(void* handoff) noexcept
//                                    whether the work of a direct handoff can start at once
//   void keep(void* handoff) noexcept
//                                    keeps it until it can be started; the caller searches for work
//                                    next
#pragma once

#include "park/idle_set.hpp"

#include <tulle/detail/attributes.hpp>

namespace tulle::park {

// Goes from searching to asleep, where there is nothing to do. False: there should be something,
// and the worker searches. The caller then sleeps, or not; in either case a waker may have handed
// something over.
// The heavy fences are for makers that make none themselves, and are left out where all other
// workers sleep. Each of these has checked for work of its own before it slept, and has set all
// wake flags; it begins to make work when it is off the list.
//   sleeper      H1 put itself on the list; F3 do all others sleep?
//   another one  it is taken off the list, by the same lock; G2, or a wake flag of its own and E2
// Either F3 sees that one is awake, or that one sees H1.
template <class Machine, class Work>
[[nodiscard]] bool prepare_sleep(idle_set<Machine>& idle, sleeper<Machine>& self,
                                 Work& work) noexcept {
    idle.announce(self); // H1
    Machine::fence_seq_cst();
    if (work.others_make_work(true)) Machine::heavy_fence();                          // F3
    if (work.set_wake_flags() && work.others_make_work(true)) Machine::heavy_fence(); // B1
    if (!work.something_to_do()) return true;                                         // H2, B2
    idle.withdraw(self);
    return false;
}

// A searcher has found work. If it was the last one and others sleep, makers of work that read
// the counters while it searched have told nobody. So it checks like a sleeper whether there is
// more, and only then pays for a wake, which would delay what was found.
//   maker that found a wake flag   E1 clear it; fence; E2 does a worker search?
//   searcher                       F1 count no more; fence; F2 set_wake_flags()
// Either the maker sees at E2 that nobody searches, or F2 sets the wake flag after E1, and it
// stays.
// The heavy fence is for makers that make none themselves. Where all other workers sleep it is left
// out, which takes most of the time of a wake: who of these is woken after that sees that nobody
// searches.
//   searcher  F1 count no more; fence; F3 do all others sleep?
//   sleeper   it is taken off the list; fence; G2
// Either F3 sees that one is awake, or that one sees F1 at G2.
template <class Machine, class Work>
void pass_search_on(idle_set<Machine>& idle, Work& work) noexcept {
    if (!idle.end_search()) return idle.tell_watcher(); // F1
    Machine::fence_seq_cst();
    static_cast<void>(work.set_wake_flags());                 // F2, B1
    if (work.others_make_work(false)) Machine::heavy_fence(); // F3
    if (work.something_to_do()) idle.wake_one();
}

// Returns the work of a direct handoff to this worker, which then does not count as searching.
// Null: there is none, or it cannot be started now, and the worker searches.
template <class Machine, class Work>
[[nodiscard]] void* accept_handoff(idle_set<Machine>& idle, sleeper<Machine>& self,
                                   Work& work) noexcept {
    void* const handoff = idle.take_handoff(self);
    if (handoff == nullptr || work.can_start(handoff)) return handoff;
    idle.begin_search();
    work.keep(handoff);
    return nullptr;
}

// Called after plain stores that made work, and after a wake flag was cleared (G2, E2).
template <class Machine> TULLE_INLINE void notify(idle_set<Machine>& idle) noexcept {
    Machine::fence_seq_cst();
    if (TULLE_UNLIKELY(idle.wake_is_due())) idle.wake_one();
}

// Called after plain stores that made work (G2). Where the machine has no heavy fence, makers make
// one of their own.
template <class Machine>
TULLE_INLINE void notify_light(idle_set<Machine>& idle, bool asymmetric) noexcept {
    if (!asymmetric) return notify(idle);
    Machine::compiler_barrier(); // ordered by the sleeper's heavy fence
    if (TULLE_UNLIKELY(idle.wake_is_due())) idle.wake_one();
}

// Called in its place by a maker that can wake somebody only later. False: notify_light() would do
// nothing, and need not be called.
template <class Machine>
[[nodiscard]] TULLE_INLINE bool notice_is_due(idle_set<Machine> const& idle,
                                              bool asymmetric) noexcept {
    Machine::compiler_barrier(); // as in notify_light
    return !asymmetric || idle.wake_is_due();
}

} // namespace tulle::park
