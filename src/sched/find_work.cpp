// SPDX-License-Identifier: Apache-2.0
// A worker takes its own work first: what it was told to start, its mailbox, its ready threads.
// When it has none it searches (idle.cpp). Each round of a search goes through, in this order:
//   events from outside (base/event_source.hpp), which it also looks for before it searches
//   timers that have expired, and its own work again
//   records: of workers of its shepherd, from a random one on; of the other shepherds; of parked
//   deques; of guests
//   threads: placed on its shepherd; without a stack; injected there; ready on its shepherd's
//   workers; then of each other shepherd, injected ones and ready ones
// Once in k_decisions_per_probe decisions, and when the watcher asks for it, timers, the threads of
// others and then their records come before its own work, so that nothing waits for ever behind a
// ready queue that is never empty, or for long behind records that never run out.
#include "sched/find_work.hpp"

#include "os/clock.hpp"
#include "sched/idle.hpp"
#include "sched/modes/guest.hpp"
#include "sched/scheduler.hpp"

namespace tulle::sched {

namespace {

runnable* as_ready(thread_record* t) noexcept { return t; }

// The thief runs the first of the list now, and queues the others.
runnable* keep_rest(worker& thief, worker_remote const& victim, runnable_list& taken) noexcept {
    runnable* const first = taken.pop_front();
    if (first == nullptr) return nullptr;
    std::uint32_t count = 1;
    for (; runnable* const r = taken.pop_front(); ++count) thief.ready.push_back(*r);
    thief.pace.stole(os::monotonic_ns(), count);
    if (victim.burst.is_all(victim.decisions.value()))
        thief.burst.add(thief.decisions.value(), count);
    if (victim.event_burst.is_all(victim.decisions.value()))
        thief.event_burst.add(thief.decisions.value(), count);
    // One that searched meanwhile may have seen them nowhere, and gone to sleep.
    if (count > 1) thief.owner->notify_light();
    return first;
}

record* steal_from(worker& thief, record_deque& victim) noexcept {
    record* const slot = record_thief(victim).steal();
    if (slot != nullptr) thief.stolen_from = &victim;
    return slot;
}

} // namespace

runnable* scheduler::take_local(worker& w) noexcept {
    if (w.start_next != nullptr) return as_ready(std::exchange(w.start_next, nullptr));
    if (TULLE_UNLIKELY(!w.mailbox.looks_empty())) return w.mailbox.take();
    return w.ready.pop();
}

runnable* scheduler::take_ready_of(worker& thief, worker_remote& victim) noexcept {
    if (&victim == &thief || !victim.ready.has_stealable() ||
        !thief.pace.is_due(os::monotonic_ns()))
        return nullptr;
    runnable_list taken = victim.ready.steal(thief.seen[static_cast<std::size_t>(victim.index)],
                                             thief.ready.size_hint());
    return keep_rest(thief, victim, taken);
}

runnable* scheduler::take_ready_of(worker& thief,
                                   growing_list<worker_remote*> const& victims) noexcept {
    std::size_t const count = victims.size();
    std::size_t const first = thief.random.below(static_cast<std::uint32_t>(count));
    for (std::size_t k = 0; k < count; ++k) {
        if (runnable* const r = take_ready_of(thief, *victims[(first + k) % count])) return r;
    }
    return nullptr;
}

runnable* scheduler::take_at_home(worker& w) noexcept {
    runnable* const first = m_injector.take_at_home(*w.home);
    if (first == nullptr || first->kind != runnable_kind::fiber) return first;
    runnable_list more = injector::take_more(*w.home);
    if (more.empty()) return first;
    while (runnable* const r = more.pop_front()) w.ready.push_back(*r);
    notify_light(); // as in keep_rest
    return first;
}

runnable* scheduler::take_shared(worker& w) noexcept {
    if (runnable* const r = take_at_home(w)) return r;
    if (runnable* const r = take_ready_of(w, w.home->workers)) return r;
    for (auto const& s : shepherds()) {
        if (s.get() == w.home) continue;
        if (runnable* const r = injector::take_from(*s)) return r;
        if (runnable* const r = take_ready_of(w, s->workers)) return r;
    }
    return nullptr;
}

record* scheduler::steal_record_of(worker& thief,
                                   growing_list<worker_remote*> const& victims) noexcept {
    std::size_t const count = victims.size();
    std::size_t const first = thief.random.below(static_cast<std::uint32_t>(count));
    for (std::size_t k = 0; k < count; ++k) {
        worker_remote& victim = *victims[(first + k) % count];
        record_deque* const deque = victim.visible.get();
        if (&victim == &thief || deque == nullptr) continue;
        if (record* const slot = steal_from(thief, *deque)) return slot;
    }
    return nullptr;
}

record* scheduler::steal_record(worker& w) noexcept {
    bool const in_order = m_shortage.is_on();
    record* slot = in_order ? m_parked.steal(w.stolen_from, false) : nullptr;
    if (slot == nullptr) slot = steal_record_of(w, w.home->workers);
    for (auto s = shepherds().begin(); slot == nullptr && s != shepherds().end(); ++s) {
        if (s->get() != w.home) slot = steal_record_of(w, (*s)->workers);
    }
    if (slot == nullptr) slot = m_parked.steal(w.stolen_from, !in_order);
    for (auto g = m_guests.begin(); slot == nullptr && g != m_guests.end(); ++g) {
        record_deque* const deque = g->remote().visible.get();
        if (deque != nullptr) slot = steal_from(w, *deque);
    }
    if (slot != nullptr) ++w.steals;
    return slot;
}

std::size_t scheduler::expire_timers() noexcept {
    return m_timers.next_deadline() != k_never ? m_timers.expire(os::monotonic_ns()) : 0;
}

// relaxed: a hint.
bool scheduler::has_other_work(worker& w) noexcept {
    if (!w.ready.looks_empty() || !w.mailbox.looks_empty()) return true;
    if (w.current->records != nullptr && w.current->records->looks_stealable()) return true;
    if (!m_parked.looks_empty()) return true;
    return something_to_do(w);
}

// relaxed, all counts: by a sleeper after its heavy fence; a maker has written them before its own
// fence (H2, G1).
bool scheduler::something_to_do(worker_remote& w) noexcept {
    if (is_stopping() || !w.mailbox.looks_empty() || !w.ready.looks_empty()) return true;
    if (m_injector.has_work(*w.home) || m_active.is_surplus(w)) return true;
    for (auto const& s : shepherds()) {
        for (worker_remote* const v : s->workers) {
            record_deque* const deque = v->visible.get();
            if (v != &w &&
                (v->ready.has_stealable() || (deque != nullptr && deque->looks_stealable())))
                return true;
        }
    }
    if (m_guests.leave_work()) return true;
    base::idle_poller const* const others = idle_poller();
    return m_parked.has_stealable() || (others != nullptr && others->has_work());
}

// --- threads whose events have come --------------------------------------------------------------

namespace {

// The worker needs a spare for a thread that has no stack yet.
work start_if_possible(worker& w, runnable* r) noexcept {
    if (r == nullptr || r->kind == runnable_kind::fiber || reserve_spare(w))
        return work::of_ready(r);
    w.ready.push_front(*r);
    return {};
}

} // namespace

void tell_of_gathered(worker& w) noexcept {
    if (w.ready.looks_empty()) return;
    w.owner->notify_light();
    w.owner->idle().tell_watcher(); // there may be some that nobody else may run
}

work start_gathered(worker& w) noexcept {
    work const first = start_if_possible(w, w.owner->take_local(w));
    tell_of_gathered(w);
    return first;
}

// --- what a worker does next ---------------------------------------------------------------------

// One round. Records are only taken when the worker could suspend them.
work probe_once(worker& w) noexcept {
    scheduler& s = *w.owner;
    if (s.is_stopping() && w.native != nullptr) return work::to_stop();
    if (std::size_t const fired = s.expire_timers(); fired != 0)
        w.burst.add(w.decisions.value(), fired);
    if (TULLE_UNLIKELY(!reserve_spare(w))) return work::of_ready(s.shortage().take_started(w));
    if (runnable* const r = s.take_local(w)) return work::of_ready(r);
    if (TULLE_UNLIKELY(w.probe.is_set())) {
        w.probe.clear();
        if (runnable* const r = s.take_shared(w)) return work::of_ready(r);
    }
    if (record* const slot = s.steal_record(w)) return work::of_stolen(slot);
    return work::of_ready(s.take_shared(w));
}

namespace {

// What waits behind a ready queue that is never empty.
work probe_others_first(worker& w) noexcept {
    scheduler& s = *w.owner;
    w.probe.clear();
    if (w.start_next != nullptr) return {};
    if (s.active().is_surplus(w) && !s.active().stand_by(w)) return work::to_stop();
    if (w.rest.is_set()) w.rest.end();
    static_cast<void>(s.expire_timers());
    if (base::event_source* const events = s.awaited_events())
        static_cast<void>(events->poll_sometimes(w.ready.size()));
    if (TULLE_UNLIKELY(!reserve_spare(w)))
        return work::of_ready(s.shortage().take_started_elsewhere(w));
    if (runnable* const r = s.take_shared(w)) return work::of_ready(r);
    if (record* const slot = s.steal_record(w)) return work::of_stolen(slot);
    base::idle_poller* const others = s.idle_poller();
    return others != nullptr && others->take_work(false) ? work::of_ready(s.take_local(w)) : work();
}

// A worker that has nothing to do takes the events that have come before it counts as one that
// searches: to run a single thread that they have made ready it need tell nobody, neither that
// there is work nor that it does not search any more.
work take_awaited(worker& w) noexcept {
    base::event_source* const events = w.owner->awaited_events();
    if (events == nullptr) return {};
    gathering events_only(w);
    bool const some = events->poll();
    events_only.end();
    return some ? start_gathered(w) : work();
}

work find_next(worker& w) noexcept {
    scheduler& s = *w.owner;
    if (w.decisions.advance() % k_decisions_per_probe == 0 || w.probe.is_set()) {
        if (s.is_deterministic()) return s.deterministic().next(w);
        work const found = probe_others_first(w);
        if (found) return found;
    }
    if (work const found = start_if_possible(w, s.take_local(w))) return found;
    if (work const found = take_awaited(w)) return found;
    return wait_for_work(w);
}

} // namespace

work find_work(worker& w) noexcept {
    work const found = find_next(w);
    if (TULLE_UNLIKELY(w.leaves_deadlines)) w.owner->leave_deadlines(w);
    return found;
}

} // namespace tulle::sched
