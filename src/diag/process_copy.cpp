// SPDX-License-Identifier: Apache-2.0
#include "diag/process_copy.hpp"

#include "arch/context.hpp"
#include "arch/fiber_annotations.hpp"
#include "os/child_program.hpp"
#include "os/memory.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tulle::diag {

namespace {

constexpr unsigned k_most_seconds_of_copy = 120;
constexpr std::size_t k_stack_bytes = std::size_t{1} << 20U;

struct task {
    void (*write)(void* argument);
    void* argument;
};

// Not by the C library's function, to which sanitizers have added what they do at the end of a
// program.
[[noreturn]] void end(int code) noexcept {
    for (;;) ::syscall(SYS_exit_group, code);
}

// Those that are still writing, or have ended and are known to the kernel still; by their numbers.
// 0: none. relaxed: guards no data.
std::array<std::atomic<int>, 16> g_copies{};

void end_copy(int) noexcept { end(1); }

void copy_main(void* argument) {
    auto const& t = *static_cast<task const*>(argument);
    arch::ignore_accesses_of_this_thread();
    for (int const fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM, SIGABRT})
        std::signal(fault, &end_copy);
    std::signal(SIGPIPE, SIG_DFL);
    ::alarm(k_most_seconds_of_copy);
    t.write(t.argument);
    end(0);
}

} // namespace

void write_and_end_copy(void (*write)(void* argument), void* argument) noexcept {
    task t{write, argument};
    // The program's handlers of others are still there.
    sigset_t held_back;
    sigfillset(&held_back);
    for (int const taken : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGPIPE})
        sigdelset(&held_back, taken);
    ::sigprocmask(SIG_SETMASK, &held_back, nullptr);
    void* const memory = os::system_memory().reserve(k_stack_bytes, os::page_size());
    if (memory == nullptr) end(1);
    arch::context there;
    arch::backend::make(there, memory, k_stack_bytes, &copy_main, &t);
    arch::backend::set(there);
}

bool write_in_copy(void (*write)(void* argument), void* argument) noexcept {
    await_copies();
    // The program's handlers are not for the copy.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    int const child = os::copy_process();
    if (child == 0) write_and_end_copy(write, argument);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    for (auto& copy : g_copies) {
        int none = 0;
        if (child > 0 && copy.compare_exchange_strong(none, child, std::memory_order_relaxed))
            break;
    }
    return child > 0;
}

void await_copies() noexcept {
    for (auto& copy : g_copies) {
        int status = 0;
        int known = copy.load(std::memory_order_relaxed);
        if (known != 0 && os::wait_for_copy(known, status, false) != 0)
            copy.compare_exchange_strong(known, 0, std::memory_order_relaxed);
    }
}

void forget_copies() noexcept {
    for (auto& copy : g_copies) copy.store(0, std::memory_order_relaxed);
}

void close_all_but(int output) noexcept {
    constexpr unsigned k_first = STDERR_FILENO + 1;
    auto const kept = static_cast<unsigned>(output);
    if (kept >= k_first) {
        if (kept > k_first) os::close_descriptors(k_first, kept - 1, false);
        os::close_descriptors(kept + 1, ~0U, false);
    } else {
        os::close_descriptors(k_first, ~0U, false);
    }
    int const nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0) return;
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(nothing, STDOUT_FILENO);
}

} // namespace tulle::diag
