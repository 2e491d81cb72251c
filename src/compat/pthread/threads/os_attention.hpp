// SPDX-License-Identifier: Apache-2.0
// What ends waits of main, and of other OS threads of the program, in the table of futexes: a
// cancellation, which the C library only notes, and handlers of signals, which the kernel calls on
// them. A thread of pthread_create has one token for all its waits (thread::attention); an OS
// thread takes a place with a token in it for each. Places stay where they are, so that nobody
// takes a lock to look for them, which a handler could find taken.
#pragma once

#include "compat/pthread/threads/thread.hpp"

#include <atomic>
#include <cstdint>

namespace tulle::posix {

// Which handlers end a wait of an OS thread, as in the kernel.
enum class ended_by : std::uint8_t { no_handler, handlers_without_restart, all_handlers };

// Of a wait by `caller`, or by an OS thread if it is null. If the wait is a cancellation point this
// comes before test_cancel: a cancellation is found there, or ends the wait.
class os_attention {
public:
    struct place;

    os_attention(thread* caller, ended_by handlers) noexcept;
    os_attention(os_attention const&) = delete;
    os_attention& operator=(os_attention const&) = delete;
    ~os_attention();

    // The limit of the wait. Without memory for a place nothing ends an OS thread's early.
    [[nodiscard]] limit until(std::uint64_t deadline) const noexcept;
    // By an OS thread whose wait has ended with ECANCELED: it may wait again. Whether handlers have
    // run that end the call.
    [[nodiscard]] bool renew() noexcept;

    // `id` has been cancelled.
    static void cancel(pthread_t id) noexcept;
    // By an OS thread on which a handler has run. Any context.
    static void note_handler(interruption by) noexcept;
    // Ends waits for such handlers.
    static void end_interrupted() noexcept;
    // The caller, an OS thread, jumps; out of its handlers, perhaps, and waits.
    static void forget() noexcept { s_of_caller = nullptr; }
    // In a forked child.
    static void forget_others() noexcept;

    // Around a wait in the kernel, which a token does not end: whoever requests it wakes the word.
    class in_kernel {
    public:
        in_kernel(std::atomic<std::uint32_t>& word, limit until) noexcept;
        in_kernel(in_kernel const&) = delete;
        in_kernel& operator=(in_kernel const&) = delete;
        ~in_kernel();
        [[nodiscard]] bool is_over() const noexcept;

    private:
        place* m_place = nullptr;
    };

private:
    thread* const m_caller;
    place* m_place = nullptr;
    os_attention* const m_outer = nullptr; // whose wait a handler has interrupted, which waits here
    ended_by const m_handlers;

    static inline constinit thread_local os_attention* s_of_caller = nullptr;
};

} // namespace tulle::posix
