// SPDX-License-Identifier: Apache-2.0
// What a child process of fork(2) can be tested for.
#pragma once

#include "base/sanitize.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sched.h>
#include <unistd.h>

// ThreadSanitizer ends a forked child that starts a thread.
inline constexpr bool k_child_may_start_threads = !tulle::base::k_thread_sanitizer;

// The allocator of AddressSanitizer stays locked in the child if another OS thread was in it at the
// fork, as one is when it starts. There, only a process of one OS thread, or whose others
// rest, may fork and then allocate.
inline constexpr bool k_may_fork_beside_threads = !tulle::base::k_address_sanitizer;

// Whether the system lists this OS thread, a folder of /proc/self/task, as asleep.
inline bool os_thread_sleeps(std::filesystem::path const& task) {
    std::ifstream file(task / "stat");
    std::string const line(std::istreambuf_iterator<char>(file), {});
    std::size_t const name_ends = line.rfind(')');
    // It has ended in the meantime, or: "number (name) state ...".
    return name_ends == std::string::npos || line.compare(name_ends, 3, ") S") == 0;
}

inline bool other_os_threads_sleep() {
    std::string const self = std::to_string(gettid());
    std::filesystem::directory_iterator const tasks("/proc/self/task");
    return std::all_of(begin(tasks), end(tasks), [&self](auto const& task) {
        return task.path().filename() == self || os_thread_sleeps(task.path());
    });
}

// fork(2), under AddressSanitizer once all others rest: the watcher and a substitute of the run
// time start when they like.
inline pid_t fork_beside_sleepers() {
    while (!k_may_fork_beside_threads && !other_os_threads_sleep()) sched_yield();
    return ::fork();
}
