// SPDX-License-Identifier: Apache-2.0
// Threads of the operating system: start, name, pin. Functions return 0 or an errno value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <pthread.h>
#include <signal.h>

namespace tulle::os {

// Starts `run(argument)` on a new OS thread with all signals as the caller has them.
[[nodiscard]] int start_thread(pthread_t& started, void* (*run)(void*), void* argument) noexcept;

// Blocks all signals, but those of faults: an instruction that faults where they are blocked ends
// the process without a handler. What was blocked before.
[[nodiscard]] inline sigset_t block_signals() noexcept {
    sigset_t all, before;
    sigfillset(&all);
    for (int const of_fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) sigdelset(&all, of_fault);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    return before;
}

// While it is there the caller has signals blocked, as an OS thread that it starts is to have them.
class signals_blocked {
public:
    signals_blocked() noexcept : m_before(block_signals()) {}
    signals_blocked(signals_blocked const&) = delete;
    signals_blocked& operator=(signals_blocked const&) = delete;
    ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }

private:
    sigset_t m_before;
};

// Runs `start` so.
template <class Start> [[nodiscard]] int with_signals_blocked(Start start) noexcept {
    signals_blocked const during_the_start;
    return start();
}

// Restricts an OS thread to the given CPUs.
[[nodiscard]] int pin_to(pthread_t thread, std::span<int const> cpus) noexcept;

// The CPUs that an OS thread may run on, ascending; 0: the caller; the number of a process: its
// first thread. Empty: the system does not say.
[[nodiscard]] std::vector<int> affinity_of(int tid);

// Restricts those OS threads of this process to `to` that may run on just `from` so far, also
// those that are made meanwhile; threads that were restricted otherwise stay so. Throws
// std::bad_alloc.
void move_threads(std::span<int const> from, std::span<int const> to);

// The number of the calling OS thread, as in /proc/self/task.
[[nodiscard]] int thread_id() noexcept;

// How many OS threads of this process there are that `is_known` is false for, without those of
// sanitizers; -1: the system does not say.
[[nodiscard]] int count_other_threads(bool (*is_known)(void* argument, int tid),
                                      void* argument) noexcept;

// Names the calling OS thread for debuggers and `top`; cut to 15 characters. Each names itself:
// another one's name is a file below /proc/self/task, and a process that waits for the end of one
// that has opened such a file computes for milliseconds until the kernel has forgotten it (Linux
// 6.18).
int set_name(char const* name) noexcept;

// Asks the system to run the calling OS thread for at most so long at a time while others want its
// CPU, so that it is also run sooner when it wakes. Only where it is scheduled by the default
// policy; no effect on systems that do not know of this (Linux before 6.12).
void shorten_slice(std::uint64_t ns) noexcept;

// How many OS threads the process has besides the caller, without those of sanitizers; when that
// cannot be read, 1.
[[nodiscard]] int other_threads() noexcept;

} // namespace tulle::os
