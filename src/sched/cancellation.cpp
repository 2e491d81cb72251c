// SPDX-License-Identifier: Apache-2.0
#include "sched/cancellation.hpp"

#include "base/assert.hpp"
#include "sched/scheduler.hpp"

#include <tulle/cancellation.hpp>
#include <tulle/detail/reference_count.hpp>
#include <tulle/schedule_point.hpp>

#include <algorithm>
#include <mutex>

namespace tulle::detail {

using sched::scheduler;

cancellation::cancellation(cancellation* whole) noexcept : m_whole(whole) {
    wait::cancellation_node<os::machine>::cancel = &on_cancel;
    if (whole == nullptr) return;
    share_cancellation(whole);
    whole->cancellation_core::insert(*this);
}

cancellation::~cancellation() {
    TULLE_ASSERT(!has_nodes(), "a cancellation is destroyed while a wait refers to it");
    // relaxed: the last user.
    if (m_deadline.load(std::memory_order_relaxed) != wait::k_never)
        scheduler::instance().timers().remove(*this);
    if (m_whole == nullptr) return;
    m_whole->remove(*this);
    drop_cancellation(m_whole);
}

void cancellation::cancel_at(std::uint64_t when) noexcept {
    std::lock_guard const held(m_deadline_lock);
    // relaxed: written under the lock.
    if (is_requested() || when >= m_deadline.load(std::memory_order_relaxed)) return;
    scheduler::instance().timers().remove(*this);
    // relaxed: a thread that sees the old one sees the request later.
    m_deadline.store(when, std::memory_order_relaxed);
    deadline = when;
    fire = &on_time;
    scheduler::instance().insert_timer(*this);
    scheduler::instance().tell_guests_of_deadline();
}

std::uint64_t cancellation::first_deadline() const noexcept {
    std::uint64_t first = wait::k_never;
    if (scheduler::instance().is_deterministic()) return first; // its time is not that of the clock
    for (cancellation const* c = this; c != nullptr; c = c->m_whole) {
        if (c->is_requested()) return wait::k_never;
        // relaxed: W2 and S1 of park/resume_word.hpp.
        first = std::min(first, c->m_deadline.load(std::memory_order_relaxed));
    }
    return first;
}

void cancellation::insert(node& n) noexcept {
    sched::worker* const w = sched::this_worker();
    if (w != nullptr && w->is_guest()) w->own_token = this;
    if (TULLE_UNLIKELY(scheduler::instance().around_fork().is_in_child())) expect_deadlines_again();
    cancellation_core::insert(n);
}

// A child process has none of its parent's timers. What has a deadline from there gets its timer
// when a thread waits for it.
TULLE_COLD void cancellation::expect_deadlines_again() noexcept {
    for (cancellation* c = this; c != nullptr; c = c->m_whole) {
        std::lock_guard const held(c->m_deadline_lock);
        // relaxed: written under the lock.
        std::uint64_t const when = c->m_deadline.load(std::memory_order_relaxed);
        if (when == wait::k_never || c->is_requested()) continue;
        scheduler::instance().timers().remove(*c);
        scheduler::instance().insert_timer(*c);
    }
}

bool cancellation::is_cancelled() noexcept {
    if (is_requested()) return true;
    std::uint64_t const when = m_deadline.load(std::memory_order_relaxed); // relaxed: see cancel_at
    if (when != wait::k_never && sched::now_ns() >= when) request();
    return is_requested() || (m_whole != nullptr && m_whole->is_cancelled());
}

void cancellation::on_time(wait::timer& t) noexcept { static_cast<cancellation&>(t).request(); }

void cancellation::on_cancel(wait::cancellation_node<os::machine>& n) noexcept {
    static_cast<cancellation&>(n).request();
}

// --- what <tulle/cancellation.hpp> calls ---------------------------------------------------------

cancellation* open_cancellation(cancellation* whole) { return new cancellation(whole); }

void share_cancellation(cancellation* c) noexcept { add_reference(c->references); }

void drop_cancellation(cancellation* c) noexcept {
    if (drop_reference(c->references)) delete c;
}

bool request_cancellation(cancellation& c) noexcept {
    schedule_point();
    return c.request();
}

void request_cancellation_at(cancellation& c, std::uint64_t deadline) noexcept {
    schedule_point();
    static_cast<void>(sched::this_fiber()); // the timer needs a run time
    if (deadline == 0)
        c.request();
    else if (deadline != k_no_deadline)
        c.cancel_at(deadline);
}

bool is_cancelled(cancellation& c) noexcept {
    schedule_point();
    return c.is_cancelled();
}

} // namespace tulle::detail
