// SPDX-License-Identifier: Apache-2.0
// What makes work visible to others, and where stacks and deques come from.
#include "sched/scheduler.hpp"

#include "base/error.hpp"
#include "os/futex.hpp"
#include "sched/foreign_visits.hpp"
#include "sched/watch/census.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace tulle::sched {

namespace {

// The fiber lies at the top of its stack, so that a thread that waits costs one page.
fiber* build_fiber(stack::span memory, void (*entry)(void*), void* argument) noexcept {
    auto* const f =
        ::new (static_cast<void*>(memory.end() - k_pooled_fiber_bytes)) fiber(fiber_kind::pooled);
    f->stack = memory;
    std::size_t const usable = memory.size - k_pooled_fiber_bytes;
    arch::backend::make(f->context, memory.low, usable, entry, argument);
    f->sanitizer.create(memory.low, usable);
    return f;
}

} // namespace

// --- making work ---------------------------------------------------------------------------------

bool scheduler::notify_all_idle() noexcept {
    os::machine::fence_seq_cst();
    if (m_idle.searching() != 0 || m_idle.wake_one()) return true;
    for (worker_remote* const w : workers()) wake_from_nap(*w);
    return false;
}

void scheduler::wake_from_nap(worker_remote& w) noexcept {
    if (w.nap_word.load(std::memory_order_relaxed) == 0) return; // relaxed: see nap()
    w.nap_word.store(0, std::memory_order_relaxed);
    os::futex_wake(w.nap_word, 1);
}

// The work goes to a sleeper by hand where one may run it: it starts it without a search, and
// nothing has to be made visible to others.
bool scheduler::hand_to_sleeper(runnable& r, int shepherd_index) noexcept {
    if (!m_idle.somebody_sleeps()) return false;
    if (shepherd_index < 0) return m_idle.searching() == 0 && m_idle.hand_over(&r);
    auto const& candidates = shepherds()[static_cast<std::size_t>(shepherd_index)]->workers;
    return std::any_of(candidates.begin(), candidates.end(),
                       [&](worker_remote* w) { return m_idle.hand_over(w->sleeper, &r); });
}

void scheduler::inject(runnable& r, int shepherd_index) noexcept {
    foreign_visit const visit;
    if (m_process_fork.is_of_parent(r)) return;
    if (TULLE_UNLIKELY(m_shortage.is_on()) && shepherd_index < 0 && r.kind == runnable_kind::thread)
        return m_shortage.queue_unstarted(r);
    if (hand_to_sleeper(r, shepherd_index)) return;
    if (TULLE_UNLIKELY(is_deterministic())) m_deterministic.note_stranger();
    if (shepherd_index >= 0) return wake_one_of(m_injector.push_placed(r, shepherd_index));
    m_injector.push_injected(r);
    notify_all_idle();
}

// Placed work: a worker of another shepherd would not do.
void scheduler::wake_one_of(shepherd& s) noexcept {
    os::machine::fence_seq_cst();
    // relaxed: after the fence, see send_away_surplus.
    if (s.active.load(std::memory_order_relaxed) == 0) return static_cast<void>(notify_all_idle());
    for (worker_remote* const w : s.workers) {
        if (m_idle.wake(w->sleeper)) return;
        wake_from_nap(*w);
    }
    m_idle.tell_watcher();
}

void scheduler::post_to_mailbox(worker_remote& w, fiber& f) noexcept {
    foreign_visit const visit;
    if (m_idle.hand_over(w.sleeper, static_cast<runnable*>(&f))) return;
    if (TULLE_UNLIKELY(is_deterministic())) m_deterministic.note_stranger();
    w.mailbox.post(f); // G1
    // This comes before G2: the sleeper checks its mailbox after its heavy fence.
    os::machine::fence_seq_cst();
    if (m_idle.wake(w.sleeper)) return;
    wake_from_nap(w);
    m_idle.tell_watcher();
}

void scheduler::park_records(fiber& f) noexcept {
    if (!f.records->looks_stealable()) return;
    m_parked.add(*f.records, m_shortage.is_on());
    notify_light();
}

void scheduler::leave_records(fiber& f) noexcept {
    record_deque& newest = *f.records;
    bool const is_again = std::exchange(this_worker()->waits_again, false);
    if (newest.older == nullptr && !newest.looks_stealable()) return;
    if (TULLE_UNLIKELY(m_shortage.is_on()) && !is_again) m_shortage.make_room(f);
    park_records(f);
}

void scheduler::note_another_turn(fiber const& f) noexcept {
    if (f.records != nullptr) this_worker()->waits_again = m_shortage.is_on();
}

bool scheduler::set_wake_flags() noexcept {
    bool any = false;
    for (worker_remote* const w : workers()) any = w->visible.set_wake_flag() || any;
    any = m_guests.set_wake_flags() || any;
    if (base::idle_poller* const others = idle_poller()) any = others->set_wake_flags() || any;
    return any;
}

// What comes from outside is followed by a fence, but what OS threads fork that have a deque.
bool scheduler::others_make_work(bool is_announced) noexcept {
    std::uint32_t const awake = is_announced ? 0 : 1; // the caller
    return m_idle.sleeping() + awake < workers().size() || idle_poller() != nullptr ||
           m_guests.show_deques();
}

// --- stacks and deques ---------------------------------------------------------------------------

fiber* scheduler::make_loop_fiber(worker& w) noexcept {
    if (runnable* const f = m_shared_spares.pop()) return static_cast<fiber*>(f);
    stack::span const memory = w.stacks.take(*m_stacks, stack::class_for(m_settings.stack_size));
    if (!memory) return nullptr;
    fiber* const f = build_fiber(memory, m_entries.loop, nullptr);
    f->hosts_loop = true;
    return f;
}

namespace {

// With the stack that `t` wants, from where it goes on with `t`; null: none is kept.
TULLE_INLINE fiber* take_kept(worker& w, thread_record& t) noexcept {
    fiber* const f = w.kept;
    if (f == nullptr || f->stack.size != stack::size_class{t.stack_class}.bytes()) return nullptr;
    w.kept = nullptr;
    w.begins_on_kept = &t;
    w.begins_with = arch::float_environment();
    f->alive.store(fiber::k_alive_mark, std::memory_order_relaxed); // relaxed: as in set_wait
    return f;
}

} // namespace

fiber* scheduler::make_thread_fiber(worker& w, thread_record& t) noexcept {
    if (fiber* const f = take_kept(w, t)) {
        f->shepherd = t.shepherd;
        return f;
    }
    stack::span const memory = w.stacks.take(*m_stacks, stack::size_class{t.stack_class});
    if (!memory) return nullptr;
    fiber* const f = build_fiber(memory, m_entries.own_stack, &t);
    f->shepherd = t.shepherd;
    return f;
}

void scheduler::note_use(fiber const& f, void const* site, bool is_forked, thread_id id) noexcept {
    stack_user const user{site, is_forked, stack::class_for(f.stack.size).bytes()};
    m_stack_uses->add(user, used_bytes(f.stack));
    if (m_settings.on_late_overflow != nullptr && !m_stacks->is_intact(f.stack))
        m_settings.on_late_overflow(user, id);
}

void scheduler::return_spares(worker& w) noexcept {
    w.spares.refill_reserve();
    w.spares.share(m_shared_spares);
}

void scheduler::release_fiber(fiber& f) noexcept {
    if (f.records != nullptr) {
        close_deques(f);
        free_deque(*f.records);
    }
    stack::span const memory = f.stack;
    f.sanitizer.destroy();
    f.alive.store(0, std::memory_order_relaxed); // relaxed: as in set_wait
    f.~fiber();
    worker* const w = this_worker();
    if (w != nullptr)
        w->stacks.give(*m_stacks, memory);
    else
        m_stacks->release(memory);
}

record_deque* scheduler::open_deque(fiber& f, std::uint8_t level) noexcept {
    record_deque* const deque = m_deques.allocate(level, opens_asymmetric_deques());
    if (deque == nullptr) return nullptr;
    deque->older = f.records;
    deque->origin = deque->older != nullptr ? deque->older->origin : f.origin;
    deque->origin_slot = deque->older != nullptr ? deque->older->origin_slot : f.origin_slot;
    f.records = deque;
    return deque;
}

void scheduler::close_newest_deque(fiber& f) noexcept {
    record_deque& closed = *f.records;
    f.records = closed.older;
    worker* const w = this_worker();
    if (w != nullptr && w->current == &f) show_deque(*w, f.records);
    free_deque(closed);
}

void scheduler::free_deque(record_deque& deque) noexcept {
    m_parked.remove(deque);
    m_deques.release(deque);
}

void scheduler::close_deques(fiber& f) noexcept {
    while (f.records->older != nullptr) close_newest_deque(f);
}

// --- deadlines -----------------------------------------------------------------------------------

namespace {

// How late a sleeping worker may wake for a deadline that others leave to it.
constexpr std::uint64_t k_kept_late_ns = 250'000;

// Whether the worker looks for work next, and has none yet: what it inserts it sees to itself, as
// it sleeps, or finds something to run.
bool is_about_to_search(worker const& w) noexcept {
    fiber const& f = *w.current;
    bool const is_loop = f.hosts_loop && f.frame == nullptr && !f.runs_record;
    return is_loop && w.run == nullptr && w.start_next == nullptr && w.ready.looks_empty() &&
           w.mailbox.looks_empty();
}

} // namespace

// A worker that searches finds the deadline before it sleeps, or leaves it with others when it has
// found work.
void scheduler::insert_timer(timer& t) noexcept {
    foreign_visit const visit;
    worker* const w = this_worker();
    bool const has_index = w != nullptr && !w->is_guest();
    std::uint64_t const deadline = t.deadline; // once it is inserted, it may fire and be gone
    if (!m_timers.insert(t, has_index ? static_cast<unsigned>(w->index) : 0)) return;
    if (m_keeper.wakes_by(deadline)) return;
    if (has_index && is_about_to_search(*w))
        w->leaves_deadlines = true;
    else if (w == nullptr || !notify_all_idle())
        m_watcher.expect(deadline);
}

std::uint64_t scheduler::first_unkept_deadline() const noexcept {
    std::uint64_t const first = m_timers.next_deadline();
    if (first == k_never) return k_never;
    std::uint64_t const late = first + k_kept_late_ns;
    return m_keeper.wakes_by(late) || m_second_keeper.wakes_by(late) ? k_never : first;
}

// Whoever sleeps may sleep beyond the first deadline while this worker computes. Mostly it is back
// before. So nobody is woken but the watcher, and only if that would come too late.
void scheduler::leave_deadlines(worker& w) noexcept {
    w.leaves_deadlines = false;
    std::uint64_t const first = first_unkept_deadline();
    if (first == k_never) return;
    if (m_settings.max_substitutes != 0)
        m_watcher.expect(first);
    else
        static_cast<void>(notify_all_idle());
}

} // namespace tulle::sched
