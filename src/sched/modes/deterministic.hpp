// SPDX-License-Identifier: Apache-2.0
// A run in which a seed decides what the order of threads is (TULLE_SEED=n): one worker, no clock
// but a virtual one, and the same choices each time. Its parts:
//   points    fork, join, spawn, yield and every call on a synchronisation object ask whether
//             another thread goes first (<tulle/schedule_point.hpp>). Deques are opened as if there
//             were no membarrier, so that each fork and join takes its cold path
//   choice    `probe` stays set at the worker, so that each wait ends in the loop, and the loop
//             here; what is ready anywhere is gathered, and one of all is taken. Records are
//             candidates, too: the oldest of each suspended stack
//   clock     each step takes a microsecond; when nothing is ready, it is the time of the next
//             timer at once
//   the end   nothing ready and no timer, and no other OS thread that could change that, nor could
//             have before it ended: a deadlock
// Used by the worker's own OS thread only, but for note_stranger(). How often a point switches is
// drawn from the seed as well: errors that need few switches at the right places are found by those
// that switch seldom.
// After the random walk of CHESS (Musuvathi and Qadeer, doi:10.1145/1250734.1250785).
#pragma once

#include "base/rng.hpp"

#include <tulle/detail/current.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

namespace tulle::sched {

class scheduler;
struct settings;
struct fiber;
struct runnable;
class work;
struct worker;

class deterministic_run {
public:
    // One worker, and none in its place while it is stuck.
    static void adapt(settings& chosen) noexcept;
    // Called before the worker starts. `first_id` is the identity that the next thread will get.
    void begin(worker& w, std::uint64_t seed, std::uint64_t first_id) noexcept;
    // Gives back to the worker's queue what it has gathered. No effect when not begun.
    void end(worker& w) noexcept;

    // The running thread is at a scheduling point; it may be suspended, and is ready.
    void point() noexcept;
    // It lets others go first.
    void yield() noexcept;
    // What the worker does next; from its loop.
    [[nodiscard]] work next(worker& w) noexcept;

    // ns; starts as the monotonic clock.
    [[nodiscard]] std::uint64_t now() const noexcept { return m_now; }
    // A hash over the order in which threads came to their points: equal interleavings have equal
    // ones.
    [[nodiscard]] std::uint64_t trace() const noexcept { return m_trace; }
    [[nodiscard]] std::uint64_t steps() const noexcept { return m_steps; }

    // Anyone may call this: an OS thread of the program's own takes part. It warns, once.
    void note_stranger() noexcept;

private:
    void step() noexcept;
    void hold(runnable& r) noexcept;
    void gather(worker& w) noexcept;
    [[nodiscard]] work choose(worker& w) noexcept;
    [[nodiscard]] work take_ready(std::uint32_t position) noexcept;
    void pass_time(worker& w) noexcept;
    [[nodiscard]] bool awaits_signal(scheduler const& s) noexcept;

    base::rng m_random{0};
    std::uint64_t m_seed = 0;
    std::uint64_t m_first_id = 0;
    std::uint32_t m_odds = 1; // a point switches once in so many times
    std::uint64_t m_now = 0;
    std::uint64_t m_trace = 0;
    std::uint64_t m_steps = 0;
    std::vector<runnable*> m_ready;
    bool m_is_alone = false; // nothing was found, and then there was no other OS thread
    bool m_has_told_of_signals = false;
    std::atomic<bool> m_has_warned{false};
};

// The run that the caller's worker takes part in, or null.
[[nodiscard]] TULLE_INLINE deterministic_run* this_run() noexcept {
    return static_cast<deterministic_run*>(
        detail::read_current<offsetof(detail::current_block, run)>(&tulle_read_current));
}

// Starts the run time if it is to be deterministic and does not run yet: what is used before the
// first thread belongs to the run, too.
void start_if_deterministic();

// The clock of timers and time-outs, ns: the monotonic one, or that of the caller's deterministic
// run.
[[nodiscard]] std::uint64_t now_ns() noexcept;

} // namespace tulle::sched
