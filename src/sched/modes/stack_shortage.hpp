// SPDX-License-Identifier: Apache-2.0
// What a worker does differently while stacks are short: their number is limited, or the system has
// refused one. All other times each of these functions does nothing, or what it is named for in the
// plain way. The rules, and the argument why work goes on: stack_shortage.md.
#pragma once

#include "stack/stack_pool.hpp"

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/record.hpp>

#include <cstddef>
#include <memory>

namespace tulle::sched {

using record = detail::record;
class scheduler;
struct fiber;
struct runnable;
struct worker;

class stack_shortage {
public:
    // Each worker needs a loop, a spare and the reserve.
    static constexpr std::size_t k_least_stacks = 3;

    stack_shortage(scheduler& owner, std::unique_ptr<stack::stack_pool> const& stacks) noexcept
        : m_scheduler(owner), m_stacks(stacks) {}
    stack_shortage(stack_shortage const&) = delete;
    stack_shortage& operator=(stack_shortage const&) = delete;

    // True from the first refusal, or the start, to the end of the run; false before the first
    // start.
    [[nodiscard]] bool is_on() const noexcept {
        return m_stacks != nullptr && m_stacks->is_short();
    }

    // --- the stacks that a worker keeps ----------------------------------------------------------
    // A worker that is about to start gets a spare and the reserve. False: no memory.
    [[nodiscard]] bool prepare(worker& w) noexcept;
    // Makes the reserve if there is none. False: no memory.
    [[nodiscard]] bool keep_reserve(worker& w) noexcept;
    // The reserve, or null. From now on the worker keeps no spare but one and the reserve, and the
    // threads that it spawns go to the queue of all workers, since it might not be able to start
    // them.
    [[nodiscard]] fiber* take_reserve(worker& w) noexcept;
    // Whether the worker can start something else if the thread that it runs now waits.
    [[nodiscard]] bool can_go_on_without(worker& w) noexcept;
    // A wait of what the worker runs now may run forked threads of the waiter's on top of it, which
    // have to end before it goes on.
    [[nodiscard]] bool may_run_on_top_of_wait(worker const& w) const noexcept;

    // --- the order of a serial run ---------------------------------------------------------------
    // The worker is about to run a record that it has stolen.
    void begin_stolen(worker& w, record const& slot) noexcept {
        if (TULLE_UNLIKELY(is_on())) note_origin(w, &slot);
    }
    // The worker is about to run a thread with a record of its own.
    void begin_thread(worker& w) noexcept {
        if (TULLE_UNLIKELY(is_on())) note_origin(w, nullptr);
    }
    // The stolen record that ran on `f` has ended, and its parent does not know that yet.
    void end_stolen(fiber& f) noexcept {
        if (TULLE_UNLIKELY(is_on())) forget_origin(f);
    }

    // --- threads that have not started -----------------------------------------------------------
    // Queues a thread for all workers, in the order of spawning.
    void queue_unstarted(runnable& r) noexcept;
    // Takes a thread that has a stack. Threads that the worker could not start go to other workers.
    [[nodiscard]] runnable* take_started(worker& w) noexcept;
    // Likewise one that is not among the worker's own.
    [[nodiscard]] runnable* take_started_elsewhere(worker& w) noexcept;

    // --- waits -----------------------------------------------------------------------------------
    // The thread on `f` is about to wait. Where its worker could not go on otherwise, it runs the
    // records of its own stack first.
    void make_room(fiber& f) noexcept;

private:
    void count_stacks(worker& w) noexcept;
    void note_origin(worker& w, record const* slot) noexcept;
    void forget_origin(fiber& f) noexcept;
    void run_own_records(fiber& f) noexcept;

    scheduler& m_scheduler;
    std::unique_ptr<stack::stack_pool> const& m_stacks;
};

} // namespace tulle::sched
