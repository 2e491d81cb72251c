// SPDX-License-Identifier: Apache-2.0
// Which signals the process has handlers for.
#pragma once

#include <cstdint>

namespace tulle::os {

// Bit n - 1 is that of signal n.
[[nodiscard]] constexpr std::uint64_t signal_bit(int signal) noexcept {
    return std::uint64_t{1} << static_cast<unsigned>(signal - 1);
}

// The signals that somebody else or a clock may send to a process that sleeps, and for which it
// has a handler. What it would cause itself is left out (faults, SIGABRT, SIGPIPE, SIGXFSZ), and
// what comes of processor time (SIGPROF, SIGVTALRM, SIGXCPU). A timer that runs (alarm, setitimer,
// timer_create) counts by the handler of its signal: without one it ends the program or does
// nothing.
[[nodiscard]] std::uint64_t handled_signals() noexcept;

// "SIGTERM"; null: it has no name here.
[[nodiscard]] char const* name_of_signal(int signal) noexcept;

} // namespace tulle::os
