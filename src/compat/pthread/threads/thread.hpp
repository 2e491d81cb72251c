// SPDX-License-Identifier: Apache-2.0
// A thread of pthread_create: a Tulle thread that takes its thread-local variables along. It lies
// behind its struct pthread (thread_block.hpp). Main, and threads that the C library makes, stay
// OS threads; they wait in the same queues, as guests.
#pragma once

#include "arch/float_environment.hpp"
#include "arch/thread_pointer.hpp"
#include "base/kept_errno.hpp"
#include "compat/pthread/processes/vfork.hpp"
#include "compat/pthread/signals/signal_set.hpp"
#include "compat/pthread/threads/thread_block.hpp"
#include "diag/explain_report.hpp"
#include "sched/cancellation.hpp"
#include "sched/parking.hpp"
#include "wait/limit_timer.hpp"

#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <pthread.h>

// Calls the function in a frame at which the stack ends for unwinders (arch/.../outermost_call.S).
extern "C" void tulle_outermost_call(void (*function)(void*), void* argument);

namespace tulle::posix {

using parking = sched::parking;
using limit = wait::limit<parking>;

// thread::life, a set of these. It is a word of the futex table.
inline constexpr std::uint32_t k_ended = 1;
inline constexpr std::uint32_t k_detached = 2;
inline constexpr std::uint32_t k_joining = 4; // somebody has the right to join it, or has joined
inline constexpr std::uint32_t k_awaited = 8; // somebody is to be woken when it has ended

// A cleanup handler of pthread_cleanup_push, in the frame that pushed it, as the compiled macro
// lays it out: a jmp_buf, whether it has a mask, and four words.
struct cleanup_frame {
    struct {
        __jmp_buf registers; // which may be more strictly aligned than words are
        int mask_was_saved;
    } at_push;
    cleanup_frame* outer;
    std::uintptr_t was_at_any_point; // the type of cancellation before it, or not used
    void* unused[2];
};
static_assert(offsetof(cleanup_frame, outer) == offsetof(__pthread_unwind_buf_t, __pad));
static_assert(sizeof(cleanup_frame) == sizeof(__pthread_unwind_buf_t));

// By a call: what the compiler puts in its place where it knows the size (rep stos) takes longer to
// begin than this takes.
TULLE_NOINLINE void zero(void* memory, std::size_t bytes) noexcept;

// What attributes say of a thread that is one of ours.
struct asked_for {
    std::size_t stack_size = 0, guard_size = 0; // bytes
    bool is_detached = false;
    bool inherits_scheduling = true;
};

struct thread {
    explicit thread(void* its_block) noexcept : block(its_block) {
        zero(resolver, sizeof resolver);
    }
    thread(thread const&) = delete;
    thread& operator=(thread const&) = delete;

    [[nodiscard]] pthread_t id() const noexcept {
        return reinterpret_cast<pthread_t>(thread_blocks::descriptor(block));
    }

    void* const block; // where its thread pointer points
    bool has_variables = false;
    std::atomic<bool> is_used{true}; // false: it is gone, and its pthread_t means nothing
    // Others may send it signals: it is whole, and does not end. Read, and set to false, under the
    // lock of the blocks.
    std::atomic<bool> is_open{false};
    thread* next_free = nullptr; // under the lock of the blocks
    bool is_free = false;        // likewise: it is in the list of those
    // It was running in the process that this one was forked off, or has left its variables as they
    // were.
    bool is_left_behind = false;
    bool is_to_be_joined =
        false; // likewise, or had ended there; nobody has joined it there or here

    std::atomic<std::uint32_t> life{0};
    // Dropped by who joins or detaches it; null: it is detached from the start.
    detail::thread_core* handle = nullptr;
    void* (*start)(void*) = nullptr;
    void* argument = nullptr;
    void* result = nullptr;
    asked_for asked;
    std::uint64_t began_ns = 0;            // os::last_tick_ns; written by itself
    arch::float_environment const floats;  // of who has made it, with which it begins
    std::atomic<void*> stack_end{nullptr}; // once it has started
    void* resolver[72];                    // the C library's struct __res_state, of 568 bytes
    char name[16] = {};
    std::atomic<bool> is_named{false};    // by the program, so that reports tell of it (names.cpp)
    std::atomic<std::uint64_t> number{0}; // in reports; 0: it has not started, or ends
    int policy = 0, priority = 0, nice = 0; // as answered (scheduling.cpp)
    int io_priority = -1;                   // likewise; negative: the kernel is asked

    // --- signals (signals/signals.cpp) -----------------------------------------------------------
    std::atomic<signal_set> blocked{~signal_set{0}}; // written by the thread itself
    std::atomic<signal_set> pending{0};              // that are for this thread
    std::atomic<signal_set> lent{0};                 // that are for the process
    bool is_interrupted = false;                     // its handler has been called by the kernel
    stack_t alternate{nullptr, SS_DISABLE, 0};       // sigaltstack
    std::atomic<int> unblocked_on{0}; // the worker's OS thread on which it has set its mask last
    std::atomic<void const*> stands_on{nullptr}; // its fiber, once it has started
    // While it waits for signals in the kernel: for which, on which OS thread.
    std::atomic<signal_set> waits_for{0};
    std::atomic<int> waits_on{0};

    // Requested when it has been cancelled, or has a signal: its wait ends, and it looks (attend).
    detail::cancellation attention{nullptr};

    // --- how it ends early (exit.cpp) ------------------------------------------------------------
    // relaxed, all: what its canceller did before is passed on by the join, as POSIX has it.
    [[nodiscard]] bool is_to_end() const noexcept {
        return is_cancelled.load(std::memory_order_relaxed) && may_be_cancelled && !is_ending;
    }
    std::atomic<bool> is_cancelled{false};
    bool may_be_cancelled = true;
    std::atomic<bool> at_any_point{false}; // the type that it has set; written by itself
    bool is_ending = false;
    bool leaves_all = false; // nothing is to be destroyed (leave_at_once)
    cleanup_frame* cleanups = nullptr;
    __jmp_buf_tag* at_end = nullptr; // in the frame at the bottom of its stack
};

// relaxed, both: who asks while it ends has a race of its own (thread_blocks::give).
[[nodiscard]] inline bool is_gone(thread const& t) noexcept {
    return !t.is_used.load(std::memory_order_relaxed);
}
// It may not have been joined yet.
[[nodiscard]] inline bool has_ended(thread const& t) noexcept {
    return is_gone(t) || (t.life.load(std::memory_order_relaxed) & k_ended) != 0;
}

// The thread that the caller is; null: an OS thread, or a child of vfork.
[[nodiscard]] TULLE_INLINE thread* self() noexcept {
    thread* const t = thread_blocks::owner(arch::thread_pointer());
    return t != nullptr && vfork_children::has_caller() ? nullptr : t;
}
// The same, of one that stands on a worker; null also in a process that a thread has made, where it
// has an OS thread of its own.
[[nodiscard]] thread* thread_on_worker() noexcept;
// Whose pthread_t it is; null: it is the C library's own.
[[nodiscard]] inline thread* thread_of(pthread_t id) noexcept {
    std::byte const* const pointer = thread_blocks::thread_pointer(id);
    thread* const t = thread_blocks::owner(pointer);
    return t != nullptr && t->block == pointer ? t : nullptr;
}

// Whether threads of pthread_create have been made: others wait in the kernel till then.
[[nodiscard]] bool is_started() noexcept;
// Workers, whatever they run, obey changes of users and groups (identity.cpp).
void follow_changes_of_identity() noexcept;

// relaxed: a thread's own, or a hint.
[[nodiscard]] inline bool ends_at_any_point(thread const& t) noexcept {
    return t.at_any_point.load(std::memory_order_relaxed);
}

// A number of the caller that no other thread of the process has: what locks note as their owner.
[[nodiscard]] int own_number() noexcept;

// Absolute times of POSIX.
[[nodiscard]] inline bool is_time(timespec const& t) noexcept {
    return t.tv_nsec >= 0 && t.tv_nsec < 1'000'000'000;
}
[[nodiscard]] bool is_clock(clockid_t clock) noexcept; // of those that locks may take
// In ns of the monotonic clock.
[[nodiscard]] std::uint64_t deadline_at(clockid_t clock, timespec const& t) noexcept;
[[nodiscard]] std::uint64_t deadline_after(timespec const& t) noexcept;
[[nodiscard]] timespec left_until(std::uint64_t deadline) noexcept; // 0: it is over

// Of a wait by `t`, or by an OS thread (null). A wait that ends with ECANCELED is followed by
// attend.
[[nodiscard]] inline limit interruptible(thread* t, std::uint64_t deadline) noexcept {
    return limit(deadline, t != nullptr ? &t->attention : nullptr);
}

// What handlers of signals have left to do to the call in which they have run: nothing; to begin
// anew where it does that after handlers with SA_RESTART; to end with EINTR.
enum class interruption : std::uint8_t { none, restarts, ends };
// Whether a wait ends at handlers that have run.
[[nodiscard]] constexpr bool ends_at(interruption seen, bool is_timed) noexcept {
    return seen == interruption::ends || (is_timed && seen == interruption::restarts);
}

// Runs handlers of signals that `t`, the caller, has and does not block. Those of `harmless` end no
// call.
[[nodiscard]] interruption run_handlers(thread& t, signal_set harmless = 0);
// Likewise, and does not return if the caller has been cancelled.
[[nodiscard]] interruption attend(thread& t, signal_set harmless = 0);
// A cancellation point, of a call that has not begun. Null: an OS thread, which the C library ends.
void test_cancel(thread* t);
// Of a thread of ours: unwinds its stack and ends it.
[[noreturn]] void end_self(thread& t, void* result);
// As the system call exit ends an OS thread, if the caller is a thread that stands on a worker:
// nothing is unwound, no destructors run, and the worker goes on. Otherwise it returns.
void leave_at_once() noexcept;

// The functions of the same names, which calls within this library would pass by (--wrap).
int lock_mutex(pthread_mutex_t* m); // may end the caller
int unlock_mutex(pthread_mutex_t* m) noexcept;
// Whether the caller has it; of one that notes its owner.
[[nodiscard]] bool holds_mutex(pthread_mutex_t* m) noexcept;
int yield_to_others() noexcept;
int yield_and_attend(); // the program's; may end the caller

// In a forked child: others were in the middle of pthread_once, or of system.
void forget_calls_once() noexcept;
void forget_commands() noexcept;

// Null: what pthread_setattr_default_np has set.
void ask(pthread_attr_t const* attributes, asked_for& asked) noexcept;

// A new thread has the name of its creator `by`, the caller, which is null if it is an OS thread.
void inherit_name(thread& t, thread const* by) noexcept;
// By the thread itself, at its begin and its end: reports name it so.
void begin_name_in_reports(thread& t, std::uint64_t number) noexcept;
void end_name_in_reports(thread& t) noexcept;

// Destroys the values that the caller has for keys. A destructor may end the caller.
void destroy_values();
void begin_variables() noexcept;

// The C library makes an OS thread of what needs one: why.
[[nodiscard]] std::optional<diag::os_thread_reason>
needs_os_thread(pthread_attr_t const* attributes) noexcept;

// errno as POSIX has it: a call that waits leaves it alone if it succeeds.
using base::kept_errno;

// The same of a call that is tried before it waits: as the system's own, it changes errno if it
// fails only, since there are programs that set it to 0 before and look at it afterwards.
template <class Call> auto keeping_errno(Call call) {
    int const before = errno;
    auto const result = call();
    if (result >= 0) errno = before;
    return result;
}

inline int fail(int error) noexcept {
    errno = error;
    return -1;
}

} // namespace tulle::posix
