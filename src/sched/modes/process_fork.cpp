// SPDX-License-Identifier: Apache-2.0
// fork(2), as seen by the scheduler. In the child there is one OS thread, the caller, and no run
// time: workers, threads and stacks of the parent are left alone as they were, unreachable for
// anything that starts there. The caller becomes a guest with the identity, the names and the
// forked children that it had, on the stack that it stands on; the first use starts a new run time.
//   - A child that nobody had stolen is run by its join. One that a thief had is lost: its join
//     throws (ESRCH).
//   - A thread with a handle that had not started is run by its join; one that had is lost,
//     likewise.
//   - When the caller was a Tulle thread, the frames below it are in the child, too, down to the
//     bottom of its stack. There the child ends, as a process does whose last thread ends: exit(0).
// The three functions are called by the handlers of pthread_atfork (runtime.cpp), with the lock of
// the run time held.
#include "arch/exception_state.hpp"
#include "base/error.hpp"
#include "os/thread.hpp"
#include "sched/join.hpp"
#include "sched/modes/guest.hpp"
#include "sched/names.hpp"
#include "sched/scheduler.hpp"

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

void scheduler::before_process_fork() noexcept {
    m_resizing.lock();
    lock_names();
    m_guests.lock_for_process_fork();
    m_timers.lock_for_process_fork();
    m_deques.lock_for_process_fork();
    for_each_deque(caller(), [](record_deque& d) { d.lock_for_process_fork(); });
}

void scheduler::after_process_fork_in_parent() noexcept {
    for_each_deque(caller(), [](record_deque& d) { d.unlock_after_process_fork(); });
    m_deques.unlock_after_process_fork();
    m_timers.unlock_after_process_fork();
    m_guests.unlock_after_process_fork();
    unlock_names();
    m_resizing.unlock();
}

void scheduler::after_process_fork_in_child() noexcept {
    after_process_fork_in_parent(); // the locks
    worker* const old = this_worker();
    for_each_deque(caller(), [](record_deque& d) {
        d.is_parked = false; // the list of parked deques is empty now
        lose_stolen_records(d);
    });
    m_guests.forget_all_but(old);
    m_guests_surplus = 0;
    m_watcher.forget();
    m_running.store(false, std::memory_order_release);  // pairs with is_running
    m_stopping.store(false, std::memory_order_relaxed); // relaxed: there is one OS thread
    if (old != nullptr && !old->is_guest()) become_guest(*old);
    leave_behind();
}

// The caller is a worker, on whatever stack.
void scheduler::become_guest(worker& old) noexcept {
    fiber& stood_on = *old.current;
    bool const pooled = stood_on.kind_of_stack == fiber_kind::pooled;
    thread_frame* const root = pooled ? nullptr : &m_adopted_frame;
    mark_inherited(stood_on, root);
    if (pooled && stood_on.base.id == 0) stood_on.base.id = draw_ids(1);
    if (!attach_guest()) base::fatal("no memory to attach an OS thread (%zu bytes)", sizeof(guest));
    worker& w = *this_worker();
    guest& g = m_guests.find(w);
    move_identity(stood_on, pooled ? stood_on.base : m_adopted_frame, root, g.stack, g.frame);
    g.stack.stack = stood_on.stack;
    g.stack.records = std::exchange(stood_on.records, nullptr);
    show_deque(w, g.stack.records);
    if (old.kind == worker_kind::dedicated) keep_affinity_of_process(m_settings.machine);
}

// What the parent's workers used stays where it is: handles and objects of the program may refer to
// it.
void scheduler::leave_behind() noexcept {
    struct remains {
        std::unique_ptr<registry> workers;
        std::unique_ptr<stack::stack_pool> stacks;
        void* older;
    };
    std::unique_ptr<registry> kept = m_registry.leave_behind();
    auto* const r = new (std::nothrow) remains{std::move(kept), std::move(m_stacks), m_left_behind};
    if (r == nullptr) { // out of memory: it is not even remembered
        static_cast<void>(kept.release());
        static_cast<void>(m_stacks.release());
    }
    m_left_behind = r;
    m_first_id = draw_ids(1);
    m_timers.clear();
    m_timekeeper.store(nullptr, std::memory_order_relaxed); // relaxed: one thread
    if (fiber const* const f = caller(); f != nullptr) {    // of the list of before
        for (record_deque* d = f->records; d != nullptr; d = d->older) d->is_parked = false;
    }
    ::new (static_cast<void*>(&m_parked)) parked_deques;
    ::new (static_cast<void*>(&m_injector)) injector(m_registry.shepherds());
    ::new (static_cast<void*>(&m_idle)) park::idle_set<os::machine>;
    ::new (static_cast<void*>(&m_shared_spares)) shared_spares;
    ::new (static_cast<void*>(&m_adopted)) fiber(fiber_kind::adopted);
}

bool scheduler::may_adopt_caller() noexcept {
    fiber const* const f = caller();
    return f == nullptr || f->kind_of_stack != fiber_kind::guest || !f->stack;
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
