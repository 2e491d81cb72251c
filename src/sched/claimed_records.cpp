// SPDX-License-Identifier: Apache-2.0
// Records of threads that their joiners run leave the queues here: at once where they come next, as when a thread joins what it spawned
// last while nothing else is ready, or joins many in the order in which it spawned them. The others are dropped by a loop when their turn
// comes (loop.cpp), and by a sweep, as a thread that spawns and joins without ever waiting keeps the loop of its worker from running.
//
// A sweep visits all that is queued here, so it comes after as many claims as records were left by the last one, and at least
// k_least_claims. What it visits was left by the last sweep, which the claims since pay for, or was queued since, which its spawn pays for.
#include "sched/scheduler.hpp"
#include "sched/thread_record.hpp"

#include <algorithm>
#include <mutex>

namespace tulle::sched {

namespace {

constexpr std::uint32_t k_least_claims = 64;

// relaxed: who claimed it has no more to say to whoever drops it.
bool is_claimed(runnable const& r) noexcept {
    return r.kind == runnable_kind::thread && static_cast<thread_record const&>(r).claimed.load(std::memory_order_relaxed);
}

runnable_list extract_claimed(runnable_list& from, std::atomic<std::uint32_t>& count) noexcept {
    // relaxed: written under the lock of the list; to others a hint.
    return from.extract(is_claimed,
                        [&count](runnable const&) { count.store(count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed); });
}

// Outside of locks: the last reference to a record destroys a result that nobody took.
void drop_all(runnable_list claimed) noexcept {
    while (runnable* const r = claimed.pop_front()) drop_reference(*static_cast<thread_record*>(r));
}

} // namespace

std::uint32_t scheduler::drop_claimed(shepherd& s) noexcept {
    runnable_list claimed;
    std::uint32_t left = 0;
    {
        std::lock_guard const held(s.lock);
        claimed = extract_claimed(s.placed, s.placed_count);
        runnable_list others = extract_claimed(s.injected, s.injected_count);
        claimed.append(others);
        left = s.placed_count.load(std::memory_order_relaxed) + s.injected_count.load(std::memory_order_relaxed); // relaxed: under the lock
    }
    drop_all(claimed);
    return left;
}

std::uint32_t scheduler::drop_claimed_unstarted() noexcept {
    if (!has_unstarted()) return 0;
    runnable_list claimed;
    std::uint32_t left = 0;
    {
        std::lock_guard const held(m_unstarted_lock);
        claimed = extract_claimed(m_unstarted, m_unstarted_count);
        left = m_unstarted_count.load(std::memory_order_relaxed); // relaxed: under the lock
    }
    drop_all(claimed);
    return left;
}

TULLE_COLD void scheduler::drop_claimed(worker& w) noexcept {
    w.claims_left = k_least_claims;
    if (w.is_guest()) return; // nothing is queued there
    drop_all(w.ready.extract(is_claimed));
    std::uint32_t const left = w.ready.size_hint() + drop_claimed(*w.home) + drop_claimed_unstarted();
    w.claims_left = std::max(left, k_least_claims);
}

bool leave_queue(worker& w, thread_record& t) noexcept {
    if (w.ready.remove_next(t)) {
        static_cast<void>(w.decisions.advance()); // no other thread was before it: the watcher has no reason to help
        return true;
    }
    if (TULLE_LIKELY(w.claims_left != 0))
        --w.claims_left;
    else
        w.owner->drop_claimed(w);
    return false;
}

} // namespace tulle::sched
