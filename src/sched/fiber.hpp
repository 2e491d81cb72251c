// SPDX-License-Identifier: Apache-2.0
// A stack with what stands on it: the full form of a thread, and what every wait suspends. Three
// kinds, with one interface:
//   pooled   lies at the top of a stack of the pool; its bottom frame is a worker's loop (loop.cpp)
//            or one thread with a stack of its own
//   adopted  the stack of the OS thread that started the run time; only its own worker runs it
//   guest    the stack of another OS thread; it is never switched out, its waits block the OS
//            thread
// A fiber is written by the worker that runs it; while suspended, by nobody but the one that
// resumes it.
#pragma once

#include "arch/context.hpp"
#include "arch/exception_state.hpp"
#include "arch/fiber_annotations.hpp"
#include "os/machine.hpp"
#include "park/resume_word.hpp"
#include "sched/runnable.hpp"
#include "stack/stack_pool.hpp"
#include "wait/wait_kind.hpp"

#include <tulle/detail/record.hpp>

#include <atomic>
#include <cstdint>

namespace tulle::detail {
struct group_member;
struct thread_core;
} // namespace tulle::detail

namespace tulle::sched {

using wait::wait_kind;
using wait::wait_reason;

struct worker_remote;
struct record_deque;

enum class fiber_kind : std::uint8_t { pooled, adopted, guest };

struct thread_values;

// What is to be done when a thread ends (thread_identity::at_end).
inline constexpr std::uint8_t k_has_name = 1;   // to be forgotten; the value of `true`
inline constexpr std::uint8_t k_has_values = 2; // of thread-local keys, to be destroyed
// It was running when this process was forked off (modes/process_fork.cpp).
inline constexpr std::uint8_t k_inherited = 4;
inline constexpr std::uint8_t k_is_bottom = 8; // and is at the bottom of its stack

// The identity of a thread. Threads that run as direct calls have none of their own.
struct thread_identity {
    thread_identity() noexcept {} // leaves `values` as it is: that would cost each thread a store
    thread_identity(std::uint64_t number, std::uint8_t flags) noexcept
        : id(number), at_end(flags) {}
    [[nodiscard]] bool has(std::uint8_t flag) const noexcept { return (at_end & flag) != 0; }

    std::uint64_t id = 0;
    std::uint8_t at_end = 0;
    thread_values* values; // values/keys.hpp; meaningful with k_has_values
};

// The identity of a thread while it runs, in the frame of whoever runs it.
struct thread_frame : thread_identity {
    thread_frame() noexcept = default;
    thread_frame(thread_frame* below, std::uint64_t number, std::uint8_t flags,
                 void const* spawned_at, detail::thread_core* its_record = nullptr) noexcept
        : thread_identity(number, flags), outer(below), site(spawned_at), record(its_record) {}

    thread_frame* outer = nullptr;
    // Where it was spawned: an address behind the call; null: not by spawn.
    void const* site = nullptr;
    // Null: it was detached from the start, so that its record is gone, or not spawned.
    detail::thread_core* record = nullptr;
};

struct fiber : runnable {
    static constexpr std::uint32_t k_alive_mark = 0x7B3F11E5;

    explicit fiber(fiber_kind k) noexcept : runnable(runnable_kind::fiber), kind_of_stack(k) {}

    // The frames that a suspended fiber will touch first.
    void prefetch_stack() const noexcept {
        // Every backend's context is one pointer into the stack.
        auto const* const top = *reinterpret_cast<std::byte* const*>(&context);
        for (int line = 0; line < 4; ++line) __builtin_prefetch(top + 64 * line);
    }
    // The thread itself calls set_wait before it is published to its waker; the waker calls
    // clear_wait. relaxed, all: only reports read them, and those know that the thread may go on
    // meanwhile.
    void set_wait(wait_reason reason) noexcept {
        waits_for.store(reason.kind, std::memory_order_relaxed);
        wait_object.store(reason.object, std::memory_order_relaxed);
    }
    // relaxed: as above.
    void clear_wait() noexcept { waits_for.store(wait_kind::nothing, std::memory_order_relaxed); }
    void bind(worker_remote& to) noexcept {
        home = &to;
        bound = true;
    }
    void unbind() noexcept {
        home = nullptr;
        bound = false;
    }

    fiber_kind kind_of_stack;
    bool hosts_loop = false;  // pooled: the bottom frame is a loop, so it can be used for anything
    bool runs_record = false; // pooled: above the loop is a stolen record, not a thread of its own
    std::atomic<wait_kind> waits_for{wait_kind::nothing};
    std::int16_t shepherd = -1;          // runs only there; -1: anywhere
    park::resume_word<os::machine> wake; // guest
    // A fiber lies in memory that is used again; this is 0 once it has been released.
    std::atomic<std::uint32_t> alive{k_alive_mark};
    arch::context context{};            // where it goes on; valid while suspended
    record_deque* records = nullptr;    // its forked threads; null until the first fork
    worker_remote* home = nullptr;      // adopted, guest: the only worker that runs it
    arch::exception_state exceptions{}; // of the C++ run time, while suspended
    // Kept where the number of stacks is limited: the deque that the record at the bottom was
    // stolen from, and its slot there.
    record_deque* origin = nullptr;
    detail::record const* origin_slot = nullptr;
    thread_frame* frame = nullptr; // the innermost thread with a record of its own
    // The identity of the forked thread at the bottom; its id is drawn when asked for.
    thread_identity base;
    // Pooled: to give back; guest: of a fiber of the process that this one was forked off.
    stack::span stack{};
    std::atomic<void const*> wait_object{nullptr}; // meaningful with waits_for
    detail::record* stolen = nullptr;              // with runs_record
    // The innermost thread of a spawn_group that stands on it (group/).
    detail::group_member* member = nullptr;
    void* attachments[3] = {}; // <tulle/detail/stack_attachments.hpp>
    // Of the thread-local variables that it takes along; null: it has those of its worker.
    void* thread_pointer = nullptr;
    arch::sanitizer_fiber sanitizer; // empty in builds without sanitizers
};

// A fiber takes whole cache lines at the top of a pooled stack.
inline constexpr std::size_t k_pooled_fiber_bytes = (sizeof(fiber) + 63) / 64 * 64;

// The fiber of a stack of the pool. It means nothing while the stack is cached.
[[nodiscard]] inline fiber const& fiber_of(stack::span stack) noexcept {
    return *reinterpret_cast<fiber const*>(stack.end() - k_pooled_fiber_bytes);
}

} // namespace tulle::sched
