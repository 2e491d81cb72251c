// SPDX-License-Identifier: Apache-2.0
// All threads that have a stack, for reports: every stack that is in use has its fiber at its top,
// so there is no list to be kept. Threads that have not started are only counted. The answer is
// exact when no other OS thread runs; else a thread may be missing, or be seen as it was a moment
// ago, but nothing is read that is not memory of the library.
#pragma once

#include "arch/registers.hpp"
#include "sched/scheduler.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tulle::sched {

struct thread_view {
    void const* stands_on = nullptr; // its fiber
    fiber_kind stack_kind = fiber_kind::pooled;
    thread_id id = 0; // 0: a forked thread that has not asked for its own
    // Where it was spawned; null: forked, or made by the system.
    void const* site = nullptr;
    detail::record const* stolen = nullptr; // forked: its record
    std::array<thread_id, 8> outer{};       // threads that run it in their place, innermost first
    std::size_t outer_count = 0;
    // Threads with a record of their own that stand on the stack, it and the outer ones; at most 64
    // are counted.
    std::size_t nested = 0;
    wait_reason waits;
    int worker = -1;                       // on which it runs; -1: it does not. A guest's is -1 too
    stuck_state found = stuck_state::free; // how the watcher found that worker when it checked last
    // The system call that the worker was in then; -1: none, or not known.
    int found_call = -1;
    int tid = 0;                // of the OS thread on which it runs, or of the guest
    arch::registers from{};     // where it goes on; pc 0: not known, as it runs
    stack::span stack{};        // empty: the stack is the system's
    bool has_own_stack = false; // made for one thread, with a size of its own
    bool has_variables = false; // thread-local ones, as a thread of pthread_create has
};

struct unstarted_counts {
    std::uint64_t ready = 0;    // in the queues of workers, threads that have a stack included
    std::uint64_t injected = 0; // from outside, or placed
    std::uint64_t starving = 0; // they wait for a stack, where stacks are counted
    std::uint64_t forked = 0;   // left behind by threads that wait

    [[nodiscard]] std::uint64_t all() const noexcept {
        return ready + injected + starving + forked;
    }
};

class census {
public:
    explicit census(scheduler& seen) noexcept : m_scheduler(seen) {}

    enum class depth { waits, registers };

    // It must not throw: the pool of stacks is locked meanwhile.
    using visitor = void (*)(void* argument, thread_view const& seen) noexcept;
    // Calls call(argument, view) for each thread, in no particular order. With depth::waits `from`
    // stays empty: registers of threads that go on meanwhile mean nothing.
    void visit(visitor call, void* argument, depth how = depth::registers) const noexcept;
    [[nodiscard]] unstarted_counts unstarted() const noexcept;
    [[nodiscard]] std::size_t count_waiting() const noexcept; // threads that do not run
    // What a worker runs, by its own OS thread.
    [[nodiscard]] static thread_view current_of(worker const& w) noexcept;
    // The number of the innermost thread on a fiber that may be gone; 0: it has none, or is gone.
    [[nodiscard]] static thread_id number_on(void const* fiber_address) noexcept;

private:
    struct tour {
        census const& of;
        visitor call;
        void* argument;
        depth how;
    };

    static void visit_pooled(void* on_tour, stack::span stack) noexcept;
    [[nodiscard]] worker_remote const* runs_on(fiber const& f) const noexcept;
    [[nodiscard]] bool inspect(fiber const& f, thread_view& seen, depth how) const noexcept;
    void visit_guests(tour const& t) const noexcept;

    scheduler& m_scheduler;
};

} // namespace tulle::sched
