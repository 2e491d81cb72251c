// SPDX-License-Identifier: Apache-2.0
// Records of threads that their joiners run leave the queues here: at once where they come next, as
// when a thread joins what it spawned last while nothing else is ready, or joins many in the order
// in which it spawned them. The others are dropped by a loop when their turn comes (loop.cpp), and
// by a sweep, as a thread that spawns and joins without ever waiting keeps the loop of its worker
// from running.
//
// A sweep visits all that is queued here, so it comes after as many claims as records were left by
// the last one, and at least k_least_claims. What it visits was left by the last sweep, which the
// claims since pay for, or was queued since, which its spawn pays for.
#include "sched/records/thread_record.hpp"
#include "sched/scheduler.hpp"

#include <algorithm>

namespace tulle::sched {

namespace {

constexpr std::uint32_t k_least_claims = 64;

// relaxed: the thread that has claimed it tells the thread that drops it nothing more.
bool is_claimed(runnable const& r) noexcept {
    return r.kind == runnable_kind::thread &&
           static_cast<thread_record const&>(r).claimed.load(std::memory_order_relaxed);
}

// Outside of locks: the last reference to a record destroys a result that nobody took.
void drop_all(runnable_list claimed) noexcept {
    while (runnable* const r = claimed.pop_front()) drop_reference(*static_cast<thread_record*>(r));
}

} // namespace

std::uint32_t injector::drop_claimed(shepherd& home) noexcept {
    for (shared_queue* const queue : {&home.placed, &home.injected, &m_unstarted})
        drop_all(queue->extract(is_claimed));
    return home.placed.size_hint() + home.injected.size_hint() + m_unstarted.size_hint();
}

TULLE_COLD void scheduler::drop_claimed(worker& w) noexcept {
    w.claims_left = k_least_claims;
    if (w.is_guest()) return; // nothing is queued there
    drop_all(w.ready.extract(is_claimed));
    std::uint32_t const left = w.ready.size_hint() + m_injector.drop_claimed(*w.home);
    w.claims_left = std::max(left, k_least_claims);
}

bool leave_queue(worker& w, thread_record& t) noexcept {
    if (w.ready.remove_next(t)) {
        // No other thread was before it: the watcher has no reason to help.
        static_cast<void>(w.decisions.advance());
        return true;
    }
    if (TULLE_LIKELY(w.claims_left != 0))
        --w.claims_left;
    else
        w.owner->drop_claimed(w);
    return false;
}

} // namespace tulle::sched
