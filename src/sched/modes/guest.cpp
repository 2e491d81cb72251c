// SPDX-License-Identifier: Apache-2.0
#include "sched/modes/guest.hpp"

#include "arch/exception_state.hpp"
#include "base/error.hpp"
#include "os/thread.hpp"
#include "sched/first_use.hpp"
#include "sched/records/join.hpp"

#include <cerrno>
#include <cstring>
#include <new>

namespace tulle::sched {

namespace {

void os_thread_ends(void* w) {
    auto& self = *static_cast<worker*>(w);
    if (!self.is_guest())
        base::fatal("the OS thread that initialized the run time ends without tulle::finalize");
    scheduler::instance().detach_guest(self);
}

// A key, not a thread-local object: it comes after the destructors of the program's thread-local
// objects, which may use Tulle, and again if destructors of other keys do.
pthread_key_t end_of_os_thread() noexcept {
    static pthread_key_t const key = [] {
        pthread_key_t made{};
        if (int const error = pthread_key_create(&made, &os_thread_ends))
            base::fatal("no pthread key (errno %d)", error);
        return made;
    }();
    return key;
}

} // namespace

namespace {

constinit thread_local bool t_was_worker = false;

} // namespace

void note_end_of_worker() noexcept { t_was_worker = true; }

void make_key_of_ends() noexcept { static_cast<void>(end_of_os_thread()); }

void watch_end_of_os_thread(worker* w) noexcept {
    if (int const error = pthread_setspecific(end_of_os_thread(), w))
        base::fatal("no memory to attach an OS thread (errno %d)", error);
}

bool scheduler::attach_guest() noexcept {
    if (is_deterministic()) m_deterministic.note_stranger();
    return m_guests.acquire(*this, m_asymmetric, [this](guest& g) { settle(g); });
}

// The calling OS thread is this guest from now on.
void scheduler::settle(guest& g) noexcept {
    worker& w = g.as_worker;
    w.current = &g.stack;
    w.on_system_stack = __builtin_frame_address(0);
    w.handlers.install();
    w.exception_globals = arch::exception_globals();
    g.stack.bind(w);
    g.frame = {nullptr, draw_ids(1), 0, nullptr};
    g.stack.frame = &g.frame;
    w.tid.store(os::thread_id(), std::memory_order_relaxed); // relaxed: as in worker_main
    set_this_worker(&w);
    watch_end_of_os_thread(&w);
}

std::size_t scheduler::guest_bytes() noexcept { return sizeof(guest); }

void scheduler::tell_guests_of_deadline() noexcept {
    for (guest& g : m_guests) g.stack.wake.tell();
}

void scheduler::detach_guest(worker& w) noexcept {
    guest& g = m_guests.find(w);
    if (g.frame.at_end != 0) end_thread(g.frame);
    if (g.stack.records != nullptr) {
        if (!discard_joined_records(g.stack))
            base::fatal("an OS thread ends with forked threads that it has not joined");
        close_deques(g.stack);
        show_deque(w, nullptr); // last: closing shows the one below
        free_deque(*std::exchange(g.stack.records, nullptr));
    }
    retire_guest(g);
}

// The caller becomes worker 0, with all that it had as a guest.
void scheduler::adopt_guest(worker& as_guest) noexcept {
    guest& g = m_guests.find(as_guest);
    move_identity(g.stack, g.frame, &g.frame, m_adopted, m_adopted_frame);
    m_adopted.records = std::exchange(g.stack.records, nullptr);
    show_deque(as_guest, nullptr);
    retire_guest(g);
}

void scheduler::retire_guest(guest& retired) noexcept {
    retired.stack.stack = {};
    retired.as_worker.handlers.remove();
    free_cached_records(retired.as_worker);
    // relaxed: its OS thread is a stranger again until it is gone.
    retired.as_worker.tid.store(0, std::memory_order_relaxed);
    set_this_worker(nullptr);
    m_guests.release(retired);
}

// --- who the caller is ---------------------------------------------------------------------------

namespace {

TULLE_COLD fiber& attach_caller_or_end() noexcept {
    int const error = attach_caller();
    if (error != 0 && scheduler::instance().is_running())
        base::fatal("no memory to attach an OS thread (%zu bytes)", scheduler::guest_bytes());
    if (error == EINVAL)
        base::fatal("cannot start: TULLE_WORKERS is greater than TULLE_MAX_WORKERS");
    if (error != 0) base::fatal("cannot start: %s", std::strerror(error));
    return *this_worker()->current;
}

} // namespace

int attach_caller() noexcept {
    int const error = t_was_worker ? 0 : start_on_first_use(); // may adopt the caller
    if (error != 0) return error;
    return this_worker() != nullptr || scheduler::instance().attach_guest() ? 0 : ENOMEM;
}

fiber& this_fiber() noexcept {
    worker* const w = this_worker();
    return TULLE_LIKELY(is_attached(w)) ? *w->current : attach_caller_or_end();
}

scheduler& running_scheduler() noexcept {
    static_cast<void>(this_fiber());
    return scheduler::instance();
}

} // namespace tulle::sched
