// SPDX-License-Identifier: Apache-2.0
// Starting and stopping the workers.
#include "arch/exception_state.hpp"
#include "arch/rounding.hpp"
#include "arch/thread_pointer.hpp"
#include "base/error.hpp"
#include "os/clock.hpp"
#include "os/membarrier.hpp"
#include "os/thread.hpp"
#include "sched/foreign_visits.hpp"
#include "sched/modes/guest.hpp"
#include "sched/records/join.hpp"
#include "sched/scheduler.hpp"
#include "sched/switch_steps.hpp"
#include "sched/watch/debug_layout.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <utility>

#include <sched.h>

namespace tulle::sched {

namespace {

// The time slice of a worker while there are more of them than CPUs: one that is woken waits for
// the others at most so long.
constexpr std::uint64_t k_slice_ns = 1'000'000;

void post_nothing(void*, void*) noexcept {}

// The caller has active_workers::hold(), or is the only thread that may start OS threads.
void join_if_ended(worker_remote& w) noexcept {
    // relaxed: as said.
    if (!w.has_os_thread || !w.has_ended.load(std::memory_order_relaxed)) return;
    pthread_join(w.os_thread, nullptr);
    w.has_os_thread = false;
    w.has_ended.store(false, std::memory_order_relaxed);
}

void name_os_thread(worker_remote const& w) noexcept {
    char name[16];
    static_cast<void>(std::snprintf(name, sizeof name, "tulle-%d", w.index));
    os::set_name(name);
}

std::size_t stack_limit(settings const& chosen) noexcept {
    std::size_t const least =
        static_cast<std::size_t>(chosen.workers) * stack_shortage::k_least_stacks;
    return chosen.most_stacks == 0 ? 0 : std::max(chosen.most_stacks, least);
}

} // namespace

scheduler::scheduler() : m_asymmetric(os::membarrier_register()), m_deques(os::system_memory()) {
    publish_to_debuggers(*this);
}

// Never destroyed: see the head of scheduler.hpp. Nor does it take memory from the system, which
// may have none.
scheduler& scheduler::instance() noexcept {
    alignas(scheduler) static std::byte s_storage[sizeof(scheduler)];
    static auto* const s = ::new (static_cast<void*>(s_storage)) scheduler;
    return *s;
}

// Runs loops until the scheduler stops; it stands on the OS thread's own stack.
void* worker_main(void* self) {
    auto& w = *static_cast<worker*>(self);
    name_os_thread(w);
    fiber native(fiber_kind::adopted);
    native.bind(w);
    native.sanitizer.adopt_current_thread();
    w.native = &native;
    w.current = &native;
    w.exception_globals = arch::exception_globals();
    w.thread_pointer = arch::thread_pointer();
    // relaxed: read by the finder of standstills, which sees the worker asleep, and by reports.
    w.tid.store(os::thread_id(), std::memory_order_relaxed);
    w.rest.end(); // it has none, but a number now
    os::shorten_slice(k_slice_ns);
    set_this_worker(&w);
    w.handlers.install();
    if (w.owner->m_begin_worker != nullptr) w.owner->m_begin_worker();
    switch_inline(w, take_spare(w), {&post_nothing, nullptr, nullptr});
    set_this_worker(nullptr);
    w.handlers.remove();
    w.native = nullptr;
    w.tid.store(0, std::memory_order_relaxed); // relaxed: as above
    note_end_of_worker();
    return nullptr;
}

int scheduler::start(settings const& chosen) try {
    m_settings = chosen;
    if (is_deterministic()) m_deterministic.adapt(m_settings);
    // relaxed: no worker yet.
    m_stopping.store(false, std::memory_order_relaxed);
    m_standstills.start(os::monotonic_ns(), chosen.first_check_ns);
    // Guests outlive the workers that have ended their threads.
    m_guests_surplus = m_guests.live_threads();
    m_stacks = std::make_unique<stack::stack_pool>(
        stack::settings{chosen.guard, nullptr, 0, stack_limit(chosen)});
    prepare_stacks(chosen.measures_stacks);
    m_registry.open(chosen.machine,
                    {m_settings.workers, most_workers(), chosen.deals_evenly, chosen.seed});
    for (int k = 0; k < m_settings.workers; ++k) static_cast<void>(make_worker(nullptr));
    m_active.begin(m_settings.workers);
    for (auto const& w : m_registry.cores()) {
        if (m_shortage.prepare(*w)) continue;
        free_everything();
        return ENOMEM;
    }
    m_timers.start_at(os::monotonic_ns(), is_deterministic() ? wait::timer_order::of_insertion
                                                             : wait::timer_order::any);
    if (is_deterministic()) m_deterministic.begin(*m_registry.cores()[0], chosen.seed, draw_ids(0));
    if (chosen.adopt_caller) adopt_caller(*m_registry.cores()[0]);
    int error = start_os_threads();
    if (error == 0) error = m_watcher.start(*this);
    if (error != 0) stop();
    return error;
} catch (std::bad_alloc const&) {
    free_everything();
    return ENOMEM;
}

void scheduler::prepare_stacks(bool measured) {
    m_stack_uses = measured ? std::make_unique<stack_uses>() : nullptr;
    m_entries = {&loop_main, &own_stack_main};
    if (measured) m_entries = {&measuring_loop_main, &measuring_own_stack_main};
}

worker& scheduler::make_worker(shepherd* home) {
    bool const is_caller = workers().size() == 0 && m_settings.adopt_caller;
    worker& w = m_registry.add(*this, is_caller ? worker_kind::adopted : worker_kind::dedicated,
                               m_asymmetric, home);
    w.most_unstarted = m_settings.most_unstarted;
    if (m_process_fork.is_in_child()) w.keeps_resumed = false;
    return w;
}

void scheduler::adopt_caller(worker& w) {
    m_adopted_frame = {nullptr, draw_ids(1), 0, nullptr};
    m_adopted.frame = &m_adopted_frame;
    if (worker* const as_guest = this_worker()) adopt_guest(*as_guest);
    m_main_stays.store(false, std::memory_order_relaxed); // relaxed: no watcher yet
    m_adopted.bind(w);
    m_adopted.sanitizer.adopt_current_thread();
    w.current = &m_adopted;
    w.on_system_stack = __builtin_frame_address(0);
    w.exception_globals = arch::exception_globals();
    w.thread_pointer = arch::thread_pointer();
    w.tid.store(os::thread_id(), std::memory_order_relaxed); // relaxed: as in worker_main
    set_this_worker(&w);
    arch::begin_inexact(); // as the threads that it is to switch to
    watch_end_of_os_thread(&w);
    w.handlers.install();
    show_deque(w, m_adopted.records);
}

// Starts a worker on a processor of its own, away from the caller's, then lets it move within its
// shepherd: the system's balancer takes long to separate threads that were born on one processor.
// Locality only: a refusal does no harm.
void scheduler::pin(worker_remote& w) noexcept {
    auto const& cpus = w.home->cpus;
    auto const here = std::find(cpus.begin(), cpus.end(), sched_getcpu()) - cpus.begin();
    auto const chosen =
        (static_cast<std::size_t>(here) + static_cast<std::size_t>(w.index)) % cpus.size();
    static_cast<void>(os::pin_to(w.os_thread, {&cpus[chosen], 1}));
    static_cast<void>(os::pin_to(w.os_thread, cpus));
}

int scheduler::start_os_thread(worker& w) {
    if (w.kind != worker_kind::dedicated) return 0;
    // relaxed: the number of active workers changes, or is as it was.
    w.stands_by.store(false, std::memory_order_relaxed);
    w.numbers.begin();
    w.rest.reset(); // the one before it may have ended while it was idle
    auto const start = [&w] { return os::start_thread(w.os_thread, &worker_main, &w); };
    if (int const error = m_begin_worker != nullptr ? os::with_signals_blocked(start) : start()) {
        static_cast<void>(w.numbers.end());                 // nobody has recalled it
        w.stands_by.store(true, std::memory_order_release); // pairs with stands_still
        return error;
    }
    w.has_os_thread = true;
    pin(w);
    return 0;
}

// An OS thread that is at its end still gives its last stack back: it is joined before its worker's
// lists are touched.
int scheduler::revive(worker& w) {
    if (w.kind != worker_kind::dedicated) return 0;
    join_if_ended(w);
    if (w.has_os_thread) return 0;
    if (!m_shortage.prepare(w)) return ENOMEM;
    return start_os_thread(w);
}

// From its end on the scheduler runs, and others may change the number of workers.
int scheduler::start_os_threads() {
    auto const held = m_active.hold();
    m_running.store(true, std::memory_order_release); // pairs with is_running
    for (auto const& w : m_registry.cores()) {
        if (int const error = start_os_thread(*w)) return error;
    }
    return 0;
}

void scheduler::join_ended_workers() noexcept {
    auto const held = m_active.hold();
    for (worker_remote* const w : workers()) join_if_ended(*w);
}

// The workers go on: static objects and other handlers may use them yet.
void scheduler::prepare_end_of_process() noexcept {
    auto const held = m_active.hold();
    m_active.keep_os_threads();
    for (worker_remote* const w : workers()) join_if_ended(*w);
}

std::int64_t scheduler::live_threads() const noexcept {
    std::int64_t live = m_guests.live_threads() - m_guests_surplus;
    for (worker_remote const* const w : workers()) { // relaxed: a snapshot
        live += w->threads_made.load(std::memory_order_relaxed) -
                w->threads_ended.load(std::memory_order_relaxed);
    }
    return live;
}

int scheduler::may_stop() noexcept {
    worker* self = this_worker();
    if (m_settings.adopt_caller && (self == nullptr || self->current != &m_adopted)) return EPERM;
    if (!m_settings.adopt_caller && self != nullptr && !self->is_guest()) return EPERM;
    if (live_threads() != 0) return EBUSY;
    if (m_settings.adopt_caller) bind_main();
    self = this_worker();
    return self != nullptr && !discard_joined_records(*self->current) ? EBUSY : 0;
}

bool scheduler::caller_has_end() const noexcept {
    return m_settings.adopt_caller && m_adopted_frame.at_end != 0;
}

void scheduler::end_caller() noexcept {
    thread_id const id = m_adopted_frame.id;
    end_thread(m_adopted_frame);
    m_adopted_frame.id = id; // it may not have to stop after all
}

void scheduler::stop() noexcept {
    m_watcher.stop();
    {
        // Nobody starts another worker from now on.
        auto const held = m_active.hold();
        // G1; a worker that is not asleep below sees it at H2, after its heavy fence.
        m_stopping.store(true, std::memory_order_seq_cst);
        m_active.count_anew(m_settings.max_workers); // workers that stand by come, too
    }
    m_standstills.wait_for_checks();
    join_os_threads();
    if (m_settings.adopt_caller) {
        m_registry.cores()[0]->handlers.remove();
        set_this_worker(nullptr);
        set_current_deque(nullptr);
        watch_end_of_os_thread(nullptr);
    }
    foreign_visit::wait_for_all();
    free_everything();
    // The next fork of each sees that nobody is there (published_cold).
    static_cast<void>(m_guests.set_wake_flags());
}

// Wakes each once and leaves the processor to them: one that sleeps later than that has seen
// m_stopping first.
void scheduler::join_os_threads() noexcept {
    os::machine::fence_seq_cst();
    m_active.tell_all();
    for (worker_remote* const w : workers()) {
        if (w->has_os_thread && !m_idle.wake(w->sleeper)) wake_from_nap(*w); // G2
    }
    for (worker_remote* const w : workers()) {
        if (w->has_os_thread) pthread_join(w->os_thread, nullptr);
    }
}

// Gives the stacks and records that a worker has cached to the pool.
void scheduler::flush_caches(worker& w) noexcept {
    while (!w.spares.empty()) w.owner->release_fiber(static_cast<fiber&>(w.spares.take()));
    if (runnable* const reserve = w.spares.take_reserve())
        w.owner->release_fiber(*static_cast<fiber*>(reserve));
    if (fiber* const kept = std::exchange(w.kept, nullptr)) w.owner->release_fiber(*kept);
    w.stacks.flush(w.owner->stacks());
    free_cached_records(w);
}

void scheduler::free_everything() noexcept {
    if (is_deterministic() && workers().size() != 0) m_deterministic.end(*m_registry.cores()[0]);
    if (m_adopted.records != nullptr) {
        close_deques(m_adopted);
        free_deque(*std::exchange(m_adopted.records, nullptr));
    }
    for (auto const& w : m_registry.cores()) flush_caches(*w);
    free_shared_records();
    while (runnable* const f = m_shared_spares.pop()) release_fiber(*static_cast<fiber*>(f));
    for (auto const& w : m_registry.cores()) {
        while (runnable* const r = w->ready.pop()) drop_reference(*static_cast<thread_record*>(r));
    }
    m_injector.clear();
    m_registry.clear();
    m_stacks.reset();
    m_running.store(false, std::memory_order_release); // pairs with is_running
}

void scheduler::trim(worker& w) noexcept {
    while (w.spares.size() > k_spares_kept) release_fiber(static_cast<fiber&>(w.spares.take()));
    while (runnable* const f = m_shared_spares.pop()) release_fiber(*static_cast<fiber*>(f));
    if (fiber* const kept = std::exchange(w.kept, nullptr)) release_fiber(*kept);
    w.stacks.flush(*m_stacks);
    free_cached_records(w);
    free_shared_records();
    m_stacks->trim();
    m_deques.trim();
}

} // namespace tulle::sched
