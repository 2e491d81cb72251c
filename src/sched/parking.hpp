// SPDX-License-Identifier: Apache-2.0
// What a wait stands on: the scheduler, its timers, the clock, and the fences of the machine.
#pragma once

#include "base/sanitize.hpp"
#include "base/spin_lock.hpp"
#include "os/machine.hpp"
#include "sched/cancellation.hpp"
#include "sched/scheduler.hpp"

#include <tulle/detail/deadline.hpp>
#include <tulle/schedule_point.hpp>

#include <cstdint>

namespace tulle::sched {

struct parking {
    using machine = os::machine;
    using front_machine = os::machine::front_machine; // of inline code in public headers
    using handle = fiber*;
    using timer = wait::timer;
    using cancellation = detail::cancellation;
    using lock = base::basic_spin_lock<os::machine>;

    // Full/empty words may be read without their lock. ThreadSanitizer takes it for an error that a
    // value is read whose owner writes it, though it is then not used.
    static constexpr bool k_may_read_unlocked = !base::k_thread_sanitizer;

    static constexpr int k_spin_rounds = 40;            // before a thread queues for a mutex
    static constexpr std::uint32_t k_most_pauses = 128; // in one round
    // A mutex goes to a waiter without a contest when it has lost this often, or waited this long.
    static constexpr std::uint16_t k_most_tries = 2;
    static constexpr std::uint64_t k_longest_wait_ns = 1'000'000;
    // Contended unlocks between two readings of the clock.
    static constexpr std::uint32_t k_passed_per_clock = 16;

    // Attaches a foreign OS thread, and starts the run time if need be.
    [[nodiscard]] static handle self() { return &this_fiber(); }
    // What `thread`, the caller, is about to wait for.
    static void set_wait(handle thread, wait::wait_reason reason) noexcept {
        thread->set_wait(reason);
        if (reason.is_again) this_worker()->owner->note_another_turn(*thread);
    }
    static void suspend(post_function post, void* a, void* b) noexcept {
        sched::suspend(post, a, b);
    }
    static void resume(handle thread) noexcept { sched::resume(*thread); }
    // The waiter calls this. A guest watches its deadline itself, as the workers may all be busy.
    static void insert_timer(timer& t) noexcept {
        worker* const w = this_worker();
        if (w->is_guest())
            w->own_timer = &t;
        else
            w->owner->insert_timer(t);
    }
    [[nodiscard]] static cancellation* as_cancellation(detail::cancellation* c) noexcept {
        return c;
    }
    static void remove_timer(timer& t) noexcept {
        if (!this_worker()->is_guest()) scheduler::instance().timers().remove(t);
    }
    [[nodiscard]] static std::uint64_t now() noexcept { return now_ns(); }
    [[nodiscard]] static bool has_heavy_fence() noexcept { return os::membarrier_available(); }

    // A call on a synchronisation object begins: in a deterministic run, others may go first. Not
    // from a post action or with a lock held.
    static void schedule_point() noexcept { tulle::schedule_point(); }
    // The caller's time is virtual, and nothing else happens while it runs.
    [[nodiscard]] static bool is_deterministic() noexcept { return this_run() != nullptr; }
    // A number below n, which differs from call to call.
    [[nodiscard]] static std::uint32_t draw(std::uint32_t n) noexcept {
        static_cast<void>(self());
        return this_worker()->random.below(n);
    }
    // Called between two polls of a word that is about to change: other threads of the worker go
    // first.
    static void relax() noexcept { yield(); }
    // Other threads of this worker are ready to run: to spin would be a waste, and one of them may
    // be what is waited for.
    [[nodiscard]] static bool has_ready_threads() noexcept {
        worker* const w = this_worker();
        return w != nullptr && !w->is_guest() && !w->ready.looks_empty();
    }
};

} // namespace tulle::sched
