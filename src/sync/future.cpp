// SPDX-License-Identifier: Apache-2.0
// The library calls under <tulle/future.hpp>.
#include "os/machine.hpp"
#include "sched/thread_record.hpp"
#include "sync/callback_list.hpp"
#include "sync/latch_core.hpp"
#include "sync/opaque.hpp"
#include "sync/parking.hpp"

#include <tulle/detail/future_core.hpp>
#include <tulle/thread.hpp>

namespace tulle::detail {

namespace {

using callbacks = sync::callback_list<os::machine, future_callback>;
using latch_type = sync::latch_core<sync::parking>;

constexpr auto k_kind = wait::wait_kind::future;

} // namespace

future_core::future_core(void (*destroy)(future_core*) noexcept) noexcept : m_destroy(destroy) { sync::open<latch_type>(m_ready).open(1); }

// The list is closed first: from then on it is ready. Who has seen that may be gone before the latch opens; the caller's reference keeps both.
void future_core::make_ready() noexcept {
    future_callback* next = sync::open<callbacks>(m_callbacks).close();
    static_cast<void>(sync::open<latch_type>(m_ready).count_down(1));
    while (next != nullptr) {
        future_callback* const c = std::exchange(next, next->next);
        c->run(c);
    }
}

bool future_core::is_ready() const noexcept {
    sync::parking::schedule_point();
    return sync::open<callbacks>(m_callbacks).is_closed();
}

void future_core::wait() noexcept {
    if (is_ready()) return;
    static_cast<void>(sched::this_fiber()); // attaches the caller
    // acquire pairs with the release of the thread in drop_runner, or with what published the future.
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
    if (thread_core* const t = m_runner.exchange(nullptr, std::memory_order_acq_rel)) release_thread(t);
}

void const* call_site() noexcept { return __builtin_return_address(0); }

void start_or_call(void (*body)(void*) noexcept, void* argument, void const* site) noexcept {
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
