// SPDX-License-Identifier: Apache-2.0
// Memory figures: what the kernel says this process has resident, and a run in a process of its
// own, so that no run finds pages that an earlier one left behind. `in_child` must be called while
// the process has one thread.
#pragma once

#include <array>
#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

namespace tulle::bench {

double resident_bytes();
double peak_resident_bytes();

// What this process may still allocate without making the machine swap, or itself be killed: what
// the kernel says is available, what the memory control group of a container leaves (version 2 or
// 1), and the limit of the address space, whichever is least.
double available_bytes();

// What one run in a child process hands back.
struct child_result {
    double time = 0;
    double bytes = 0;
    bool ok = false;
};

// Runs `body() -> child_result` in a forked process; a child that dies gives a result that is not
// ok.
template <class F> child_result in_child(F body) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return {};
    pid_t const pid = ::fork();
    if (pid == 0) {
        child_result const mine = body();
        bool const sent = ::write(ends[1], &mine, sizeof mine) == static_cast<ssize_t>(sizeof mine);
        _exit(sent ? 0 : 1);
    }
    close(ends[1]);
    child_result result;
    if (pid < 0 || ::read(ends[0], &result, sizeof result) != static_cast<ssize_t>(sizeof result))
        result = {};
    close(ends[0]);
    int status = 0;
    if (pid > 0) waitpid(pid, &status, 0);
    if (WIFSIGNALED(status))
        std::fprintf(stderr, "bench: a run ended by signal %d\n", WTERMSIG(status));
    return result;
}

} // namespace tulle::bench
