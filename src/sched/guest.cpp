// SPDX-License-Identifier: Apache-2.0
#include "sched/guest.hpp"

#include "arch/exception_state.hpp"
#include "base/error.hpp"
#include "os/thread.hpp"
#include "sched/first_use.hpp"
#include "sched/join.hpp"

#include <new>

namespace tulle::sched {

// Detaches a guest when its OS thread ends.
struct guest_exit {
    worker* attached = nullptr;
    ~guest_exit() {
        if (attached != nullptr) scheduler::instance().detach_guest(*std::exchange(attached, nullptr));
    }
};

TULLE_NOINLINE void detach_at_exit(worker* w) noexcept {
    static thread_local guest_exit hook;
    hook.attached = w;
}

worker& scheduler::attach_guest() {
    std::lock_guard const held(m_guests_lock);
    guest* g = m_free_guests;
    if (g != nullptr) {
        m_free_guests = g->next_free;
    } else {
        g = new (std::nothrow) guest(*this, m_asymmetric);
        if (g == nullptr) base::fatal("no memory to attach an OS thread (%zu bytes)", sizeof(guest));
        g->next = m_guests.load(std::memory_order_relaxed); // relaxed: written under this lock only
        m_guests.store(g, std::memory_order_release);       // pairs with the acquire of thieves
    }
    worker& w = g->as_worker;
    w.current = &g->stack;
    w.exception_globals = arch::exception_globals();
    g->stack.bind(w);
    g->frame = {nullptr, draw_ids(1), false, nullptr};
    g->stack.frame = &g->frame;
    w.tid.store(os::thread_id(), std::memory_order_relaxed); // relaxed: as in worker_main
    set_this_worker(&w);
    detach_at_exit(&w);
    return w;
}

void scheduler::alarm_guests() noexcept {
    for (guest* g = m_guests.load(std::memory_order_acquire); g != nullptr; g = g->next) {            // pairs with attach_guest
        if (record_deque* const d = g->as_worker.visible.load(std::memory_order_acquire)) d->alarm(); // pairs with show_deque
    }
}

std::int64_t scheduler::live_threads_of_guests() const noexcept {
    std::int64_t live = 0;
    for (guest* g = m_guests.load(std::memory_order_acquire); g != nullptr; g = g->next) { // pairs with attach_guest; counts: a snapshot
        live += g->as_worker.threads_made.load(std::memory_order_relaxed) - g->as_worker.threads_ended.load(std::memory_order_relaxed);
    }
    return live;
}

void scheduler::detach_guest(worker& w) noexcept {
    guest* g = m_guests.load(std::memory_order_acquire); // pairs with attach_guest
    while (&g->as_worker != &w) g = g->next;
    if (g->stack.records != nullptr) {
        if (!discard_joined_records(g->stack)) base::fatal("an OS thread ends with forked threads that it has not joined");
        close_deques(g->stack);
        show_deque(w, nullptr); // last: closing shows the one below
        m_deques.release(*std::exchange(g->stack.records, nullptr));
    }
    free_cached_records(w);
    w.tid.store(0, std::memory_order_relaxed); // relaxed: its OS thread is a stranger again until it is gone
    set_this_worker(nullptr);
    std::lock_guard const held(m_guests_lock);
    g->next_free = m_free_guests;
    m_free_guests = g;
}

// --- who the caller is --------------------------------------------------------------------------------------------------

namespace {

TULLE_COLD fiber& attach_caller() {
    start_on_first_use(); // may adopt the caller
    worker* const w = this_worker();
    return *(w != nullptr ? *w : scheduler::instance().attach_guest()).current;
}

} // namespace

fiber& this_fiber() {
    worker* const w = this_worker();
    if (TULLE_UNLIKELY(w == nullptr || (w->is_guest() && !w->owner->is_running()))) return attach_caller();
    return *w->current;
}

} // namespace tulle::sched
