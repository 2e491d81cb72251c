// SPDX-License-Identifier: Apache-2.0
#include "sched/modes/process_fork.hpp"

#include "arch/exception_state.hpp"
#include "base/error.hpp"
#include "os/memory.hpp"
#include "os/private_descriptor.hpp"
#include "os/thread.hpp"
#include "os/topology.hpp"
#include "sched/foreign_visits.hpp"
#include "sched/modes/guest.hpp"
#include "sched/records/join.hpp"
#include "sched/scheduler.hpp"
#include "sched/values/names.hpp"

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <system_error>

namespace tulle::sched {

namespace {

fiber* caller() noexcept {
    worker* const w = this_worker();
    return w == nullptr ? nullptr : w->current;
}

template <class F> void for_each_deque(fiber* f, F&& action) noexcept {
    for (record_deque* d = f == nullptr ? nullptr : f->records; d != nullptr; d = d->older)
        action(*d);
}

// Frames of threads that run on the stack; `root` is the one that belongs to the OS thread, or null
// on a pooled stack.
void mark_inherited(fiber& f, thread_frame const* root) noexcept {
    for (thread_frame* t = f.frame; t != root; t = t->outer) {
        t->at_end |= k_inherited;
        if (t->outer == nullptr && !f.runs_record) t->at_end |= k_is_bottom;
    }
}

void keep_affinity_of_process(os::topology const& machine) noexcept try {
    std::vector<int> cpus;
    for (auto const& group : machine.groups)
        cpus.insert(cpus.end(), group.cpus.begin(), group.cpus.end());
    static_cast<void>(os::pin_to(pthread_self(), cpus));
} catch (std::bad_alloc const&) {
    return; // locality only
}

} // namespace

std::exception_ptr left_behind_error() noexcept {
    return std::make_exception_ptr(
        std::system_error(ESRCH, std::generic_category(),
                          "tulle: the thread was left behind in the parent process by fork()"));
}

void move_identity(fiber& from, thread_identity& from_root, thread_frame const* root_frame,
                   fiber& to, thread_frame& to_root) noexcept {
    to_root.id = from_root.id;
    to_root.at_end = std::exchange(from_root.at_end, std::uint8_t{0});
    if (to_root.has(k_has_values)) to_root.values = from_root.values;
    to_root.outer = nullptr;
    to.frame = from.frame;
    thread_frame** link = &to.frame;
    while (*link != root_frame) link = &(*link)->outer;
    *link = &to_root;
    from.frame = nullptr;
}

void process_fork::prepare() noexcept {
    scheduler& s = m_scheduler;
    make_key_of_ends();
    s.m_active.lock_for_process_fork();
    lock_names();
    s.m_guests.lock_for_process_fork();
    s.m_timers.lock_for_process_fork();
    s.m_deques.lock_for_process_fork();
    for_each_deque(caller(), [](record_deque& d) { d.lock_for_process_fork(); });
    os::lock_localities();
    os::lock_refused_memory();
    os::private_descriptor::lock_for_process_fork();
}

void process_fork::in_parent() noexcept {
    scheduler& s = m_scheduler;
    os::private_descriptor::unlock_after_process_fork();
    os::unlock_refused_memory();
    os::unlock_localities();
    for_each_deque(caller(), [](record_deque& d) { d.unlock_after_process_fork(); });
    s.m_deques.unlock_after_process_fork();
    s.m_timers.unlock_after_process_fork();
    s.m_guests.unlock_after_process_fork();
    unlock_names();
    s.m_active.unlock_after_process_fork();
}

void process_fork::in_child() noexcept {
    in_parent(); // the locks
    scheduler& s = m_scheduler;
    worker* const old = this_worker();
    for_each_deque(caller(), [](record_deque& d) {
        d.is_parked = false; // the list of parked deques is empty now
        lose_stolen_records(d);
    });
    s.m_guests.forget_all_but(old);
    s.m_guests_surplus = 0;
    s.m_watcher.forget();
    s.m_standstills.forget_checks();
    s.m_running.store(false, std::memory_order_release);  // pairs with is_running
    s.m_stopping.store(false, std::memory_order_relaxed); // relaxed: there is one OS thread
    if (old != nullptr && !old->is_guest()) become_guest(*old);
    leave_behind();
}

// The caller is a worker, on whatever stack.
void process_fork::become_guest(worker& old) noexcept {
    scheduler& s = m_scheduler;
    fiber& stood_on = *old.current;
    bool const pooled = stood_on.kind_of_stack == fiber_kind::pooled;
    thread_frame* const root = pooled ? nullptr : &s.m_adopted_frame;
    mark_inherited(stood_on, root);
    if (pooled && stood_on.base.id == 0) stood_on.base.id = s.draw_ids(1);
    if (!s.attach_guest())
        base::fatal("no memory to attach an OS thread (%zu bytes)", sizeof(guest));
    worker& w = *this_worker();
    guest& g = s.m_guests.find(w);
    move_identity(stood_on, pooled ? stood_on.base : s.m_adopted_frame, root, g.stack, g.frame);
    g.stack.stack = stood_on.stack;
    g.stack.records = std::exchange(stood_on.records, nullptr);
    s.show_deque(w, g.stack.records);
    if (old.kind == worker_kind::dedicated) keep_affinity_of_process(s.m_settings.machine);
}

// What the parent's workers used stays where it is: handles and objects of the program may refer to
// it.
void process_fork::leave_behind() noexcept {
    struct remains {
        std::unique_ptr<registry> workers;
        std::unique_ptr<stack::stack_pool> stacks;
        void* older;
    };
    scheduler& s = m_scheduler;
    std::unique_ptr<registry> kept = s.m_registry.leave_behind();
    auto* const r = new (std::nothrow) remains{std::move(kept), std::move(s.m_stacks), m_remains};
    if (r == nullptr) { // out of memory: it is not even remembered
        static_cast<void>(kept.release());
        static_cast<void>(s.m_stacks.release());
    }
    m_remains = r;
    m_first_id = s.draw_ids(1);
    s.m_timers.clear();
    foreign_visit::forget_all();
    s.m_keeper.forget();
    s.m_second_keeper.forget();
    if (fiber const* const f = caller(); f != nullptr) { // of the list of before
        for (record_deque* d = f->records; d != nullptr; d = d->older) d->is_parked = false;
    }
    ::new (static_cast<void*>(&s.m_parked)) parked_deques;
    ::new (static_cast<void*>(&s.m_injector)) injector(s.m_registry.shepherds());
    ::new (static_cast<void*>(&s.m_idle)) park::idle_set<os::machine>;
    ::new (static_cast<void*>(&s.m_shared_spares)) shared_spares;
    ::new (static_cast<void*>(&s.m_adopted)) fiber(fiber_kind::adopted);
}

bool process_fork::may_adopt_caller() noexcept {
    fiber const* const f = caller();
    return f == nullptr || f->kind_of_stack != fiber_kind::guest || !f->stack;
}

TULLE_COLD bool process_fork::stands_on_stack_of_parent(runnable const& r) const noexcept {
    if (r.kind != runnable_kind::fiber) return false;
    std::unique_ptr<stack::stack_pool> const& stacks = m_scheduler.m_stacks;
    if (stacks == nullptr) return true; // nothing has started here
    auto const& f = static_cast<fiber const&>(r);
    // Main is the caller of fork, or of the parent.
    if (f.kind_of_stack == fiber_kind::adopted) return !m_scheduler.m_settings.adopt_caller;
    return !stacks->owns(f.stack);
}

// The end of a thread that was running when the process was forked, and goes on in the child.
void end_inherited(thread_frame& frame, bool is_bottom) noexcept {
    worker& w = *this_worker();
    if (w.current->frame == &frame) w.current->frame = frame.outer;
    // It was not counted as alive here, and is about to be counted as ended. relaxed: one writer.
    w.threads_made.store(w.threads_made.load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed);
    if (is_bottom) end_forked_process();
}

void end_forked_process() noexcept { std::exit(0); }

} // namespace tulle::sched
