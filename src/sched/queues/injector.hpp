// SPDX-License-Identifier: Apache-2.0
// The threads that are ready and in no worker's own queue: placed on a shepherd, from outside the
// workers, or waiting for a stack where stacks are counted. Any thread may call all of it; whom a
// push wakes is its caller's business.
#pragma once

#include "sched/queues/shared_queue.hpp"
#include "sched/shepherd.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace tulle::sched {

class injector {
public:
    using shepherd_list = std::vector<std::unique_ptr<shepherd>>;

    explicit injector(shepherd_list const& shepherds) noexcept : m_shepherds(shepherds) {}

    // Queues a thread that only workers of that shepherd may take.
    shepherd& push_placed(runnable& r, int shepherd_index) noexcept;
    // Queues a thread that any worker may take; the shepherds get one each in turn.
    void push_injected(runnable& r) noexcept;
    // Threads start in the order in which they were spawned (E3 of modes/stack_shortage.md).
    void push_unstarted(runnable& r) noexcept { m_unstarted.push(r); }

    // What a worker of `home` takes when its own queues are empty: from its own shepherd, then from
    // another one.
    [[nodiscard]] runnable* take_at_home(shepherd& home) noexcept;
    [[nodiscard]] static runnable* take_from(shepherd& other) noexcept;
    // More of what is injected at `home`, for a worker that has taken a thread with a stack there
    // and queues the others itself. Events that somebody else has polled come many at a time.
    [[nodiscard]] static runnable_list take_more(shepherd& home) noexcept {
        return home.injected.pop_some_started(k_most_at_once);
    }
    [[nodiscard]] runnable* take_unstarted() noexcept { return m_unstarted.pop(); }
    // A worker that has no stack to start anything on takes a thread that has one.
    [[nodiscard]] runnable* take_started(shepherd& home) noexcept;

    // Whether a worker of `home` would find something now. Hints.
    [[nodiscard]] bool has_work(shepherd const& home) const noexcept;
    [[nodiscard]] bool has_unstarted() const noexcept { return m_unstarted.size_hint() != 0; }
    [[nodiscard]] bool has_placed() const noexcept;
    [[nodiscard]] bool has_injected() const noexcept;
    // A thread with a stack is in one of the queues.
    [[nodiscard]] bool has_started() const noexcept;
    // Whether more than `most` threads wait where a thread for this shepherd (-1: for anyone) is
    // queued.
    [[nodiscard]] bool is_far_behind(int shepherd_index, std::uint64_t most) const noexcept;

    // Drops the threads that their joiners run, out of the queues of `home` and of those that wait
    // for a stack (records/claimed_records.cpp). How many threads are left there.
    std::uint32_t drop_claimed(shepherd& home) noexcept;

    // Reports call these.
    [[nodiscard]] std::uint64_t count_queued() const noexcept; // placed or injected
    [[nodiscard]] std::uint64_t count_unstarted() const noexcept { return m_unstarted.size_hint(); }

    // While no other thread uses it: drops the references that the queues hold.
    void clear() noexcept;

private:
    static constexpr std::uint32_t k_most_at_once = 32;

    shepherd_list const& m_shepherds;
    shared_queue m_unstarted; // threads that wait for a stack
    std::atomic<std::uint64_t> m_turn{0};
};

} // namespace tulle::sched
