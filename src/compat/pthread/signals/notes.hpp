// SPDX-License-Identifier: Apache-2.0
// What is told of signals that threads have not taken yet: who has sent them, and the value of
// sigqueue. Real-time signals are queued (POSIX, 2.4.1): as many notes, as many signals, in their
// order. Of the others one waits at a time, and the first note is its own; it may have none.
// Any context, also that of a handler.
#pragma once

#include "compat/pthread/signals/signal_set.hpp"

#include <csignal>
#include <cstddef>
#include <cstdint>

namespace tulle::posix {

struct thread;

// The C library keeps two of the kernel's for itself.
[[nodiscard]] inline bool is_queued(int signal) noexcept {
    return signal >= SIGRTMIN && signal <= SIGRTMAX;
}

namespace signal_notes {

enum class found : std::uint8_t { none, last, one_of_some };

// `to` null, in all: the process. False: there is no room.
[[nodiscard]] bool put(int signal, thread const* to, siginfo_t const& about) noexcept;
// Takes out the oldest one, if there is any.
[[nodiscard]] found take(int signal, thread const* to, siginfo_t& about) noexcept;
[[nodiscard]] std::size_t count(int signal, thread const* to) noexcept;
void drop(int signal, thread const* to) noexcept;
// The thread has ended.
void drop_all(thread const& to) noexcept;
// In a forked child, in which nothing is pending.
void forget() noexcept;

} // namespace signal_notes

} // namespace tulle::posix
