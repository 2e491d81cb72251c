// SPDX-License-Identifier: Apache-2.0
// An OS thread that waits in the C library for a thread of pthread_create, which waits here
// meanwhile: its worker goes on, and its wait can be ended. One for each wait; it lies in the
// caller's frame until it has been joined.
#pragma once

#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/threads/uncancelled.hpp"
#include "os/thread.hpp"

namespace tulle::posix {

class os_thread_wait {
public:
    static constexpr std::uint32_t k_begins = 0, k_waits = 1, k_over = 2; // its states

    // `main` calls become, k_over at the end, also if it is cancelled. 0 or an errno value.
    [[nodiscard]] int start(void* (*main)(void*), void* argument) noexcept {
        return os::with_signals_blocked(
            [&] { return os::start_thread(m_os_thread, main, argument); });
    }
    // By the OS thread.
    void become(std::uint32_t state) noexcept {
        m_state.store(state, std::memory_order_release); // pairs with state
        futex_wake(m_state, 1);
    }
    // Until it has begun to wait.
    void await_wait() noexcept {
        while (state() == k_begins) static_cast<void>(await_change(k_begins, limit(wait::k_never)));
    }
    // Whether it is over; a handler, or a cancellation of the caller, comes first otherwise.
    [[nodiscard]] bool await_end(limit until) noexcept {
        for (std::uint32_t now = state(); now != k_over; now = state())
            if (await_change(now, until) == ECANCELED) return false;
        return true;
    }
    void cancel() noexcept { TULLE_LIBC(pthread_cancel)(m_os_thread); }
    void join() noexcept {
        uncancelled const meanwhile;
        static_cast<void>(await_end(limit(wait::k_never)));
        TULLE_LIBC(pthread_join)(m_os_thread, nullptr);
    }

private:
    // pairs with become
    [[nodiscard]] std::uint32_t state() const noexcept {
        return m_state.load(std::memory_order_acquire);
    }
    int await_change(std::uint32_t seen, limit until) noexcept {
        kept_errno const kept;
        return futex_wait(m_state, seen, until);
    }

    futex_word m_state{k_begins};
    pthread_t m_os_thread{};
};

} // namespace tulle::posix
