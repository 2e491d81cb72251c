// SPDX-License-Identifier: Apache-2.0
#include "diag/process_copy.hpp"

#include "arch/context.hpp"
#include "arch/fiber_annotations.hpp"
#include "os/memory.hpp"

#include <csignal>
#include <cstddef>

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

} // namespace tulle::diag
