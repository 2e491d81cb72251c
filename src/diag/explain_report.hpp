// SPDX-License-Identifier: Apache-2.0
// The table of the option `explain`: what kept workers from their threads, and which threads of the
// program the operating system runs.
#pragma once

#include "sched/watch/watcher.hpp"

#include <cstdint>

namespace tulle::diag {

// Why a thread that the program has made is an OS thread.
enum class os_thread_reason : std::uint8_t {
    own_stack,   // it brings memory for its stack
    large_stack, // it is larger than any of the run time's
    wide_guard,  // more is to be guarded below its stack than below others
    processors,  // it is to run on some only
    policy,      // of scheduling, other than the usual one
    own_waits,   // it waits by system calls in its own code
    no_run_time  // there is none that could run it
};

// Any OS thread. One more.
void note_os_thread(os_thread_reason why) noexcept;

// On standard error.
void explain(sched::watcher const& seen) noexcept;

} // namespace tulle::diag
