// SPDX-License-Identifier: Apache-2.0
// The library calls under <tulle/future.hpp>.
#include "base/intrusive_list.hpp"
#include "os/machine.hpp"
#include "sched/records/thread_record.hpp"
#include "sync/callback_list.hpp"
#include "sync/latch_core.hpp"
#include "sync/opaque.hpp"
#include "sync/parking.hpp"

#include <tulle/detail/future_core.hpp>
#include <tulle/thread.hpp>

#include <future>
#include <utility>

namespace tulle::detail {

namespace {

using callbacks = sync::callback_list<os::machine, future_callback>;
using latch_type = sync::latch_core<sync::parking>;

constexpr auto k_kind = wait::wait_kind::future;

// Callbacks that are to run, the oldest first.
using callback_queue = base::intrusive_queue<&future_callback::next>;

// The queue of the make_ready() that runs callbacks on this OS thread; null: none does. A thread
// that may be suspended in a callback is outside of it meanwhile (callbacks_apart), so that it is
// never the queue of a thread that has gone elsewhere. The OS thread may be another one then, so
// that neither the address is kept nor what a call has returned: the compiler takes a function that
// only finds an address for one that always finds the same, unless there is something in it that it
// does not see through.
TULLE_NOINLINE callback_queue*& running_callbacks() noexcept {
    thread_local callback_queue* t_running = nullptr;
    __asm__ __volatile__("" : : : "memory");
    return t_running;
}

// A callback may make another future ready, whose callbacks then wait for this one to return: a
// chain of futures of any length takes one frame.
void run_callbacks(callback_queue due) noexcept {
    if (due.empty()) return;
    if (callback_queue* const outer = running_callbacks()) return outer->append(due);
    running_callbacks() = &due;
    while (future_callback* const c = due.pop_front()) c->run(c);
    running_callbacks() = nullptr;
}

} // namespace

void throw_future_error(future_fault fault) {
    switch (fault) {
        case future_fault::no_state: throw std::future_error(std::future_errc::no_state);
        case future_fault::already_satisfied:
            throw std::future_error(std::future_errc::promise_already_satisfied);
        case future_fault::already_retrieved: break;
    }
    throw std::future_error(std::future_errc::future_already_retrieved);
}

std::exception_ptr broken_promise() noexcept {
    return std::make_exception_ptr(std::future_error(std::future_errc::broken_promise));
}

future_core::future_core(void (*destroy)(future_core*) noexcept) noexcept : m_destroy(destroy) {
    sync::open<latch_type>(m_ready).open(1);
}

// The list is closed first: from then on the future is ready. A thread that has seen that may be
// gone before the latch opens; the caller's reference keeps both.
void future_core::make_ready() noexcept {
    callback_queue const due = sync::open<callbacks>(m_callbacks).close();
    static_cast<void>(sync::open<latch_type>(m_ready).count_down(1));
    run_callbacks(due);
}

bool future_core::is_ready() const noexcept {
    sync::parking::schedule_point();
    return sync::open<callbacks>(m_callbacks).is_closed();
}

void future_core::wait() noexcept {
    if (is_ready()) return;
    static_cast<void>(sched::this_fiber()); // attaches the caller
    // acquire pairs with the release of the thread in drop_runner, or with what published the
    // future.
    if (thread_core* const t = m_runner.exchange(nullptr, std::memory_order_acq_rel)) {
        static_cast<void>(sched::try_run_in_place(*static_cast<sched::thread_record*>(t)));
        release_thread(t);
        if (is_ready()) return;
    }
    sync::open<latch_type>(m_ready).wait(k_kind);
}

bool future_core::wait_before(limit until) noexcept {
    if (is_ready()) return true;
    return sync::open<latch_type>(m_ready).wait_until(until, k_kind);
}

bool future_core::add(future_callback& c) noexcept {
    sync::parking::schedule_point();
    return sync::open<callbacks>(m_callbacks).add(c);
}

void future_core::drop_runner() noexcept {
    // acq_rel: see wait
    if (thread_core* const t = m_runner.exchange(nullptr, std::memory_order_acq_rel))
        release_thread(t);
}

callbacks_apart::callbacks_apart() noexcept
    : m_outer(std::exchange(running_callbacks(), nullptr)) {}
callbacks_apart::~callbacks_apart() { running_callbacks() = static_cast<callback_queue*>(m_outer); }

void const* call_site() noexcept { return __builtin_return_address(0); }

void start_or_call(void (*body)(void*) noexcept, void* argument, void const* site) noexcept {
    callbacks_apart const apart; // behind many threads the caller is suspended
    try {
        thread_core* const t = make_thread(
            {}, [body, argument]() noexcept { body(argument); }, true);
        t->site = site;
        start_thread(t, true, false);
    } catch (...) {
        body(argument);
    }
}

} // namespace tulle::detail
