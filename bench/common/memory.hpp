// SPDX-License-Identifier: Apache-2.0
// Memory figures: what the kernel says this process has resident, and a run in a process of its own, so that no run
// finds pages that an earlier one left behind. `in_child` must be called while the process has one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tulle::bench {

// Reads "Key:   123 kB" from a file of /proc, in bytes; 0 if it is not there.
inline double proc_bytes(char const* path, std::string const& key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        if (line.compare(0, key.size(), key) == 0) return 1024.0 * std::strtod(line.c_str() + key.size(), nullptr);
    return 0;
}

inline double resident_bytes() { return proc_bytes("/proc/self/smaps_rollup", "Rss:"); }
inline double peak_resident_bytes() { return proc_bytes("/proc/self/status", "VmHWM:"); }

// What this process may still allocate without making the machine swap, or itself be killed: what the kernel says is available, what the
// memory control group of a container leaves (version 2 or 1), and the limit of the address space, whichever is least.
inline double available_bytes() {
    double available = proc_bytes("/proc/meminfo", "MemAvailable:");
    auto const limit_by = [&available](std::string const& limit, std::string const& used) {
        double most = 0;
        double now = 0;
        if (std::ifstream(limit) >> most && std::ifstream(used) >> now) available = std::min(available, std::max(most - now, 0.0));
    };
    limit_by("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"); // "max", no number: no limit
    limit_by("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes");
    rlimit space{};
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
        double const used = proc_bytes("/proc/self/status", "VmSize:");
        available = std::min(available, std::max(static_cast<double>(space.rlim_cur) - used, 0.0));
    }
    return available;
}

// What one run in a child process hands back.
struct child_result {
    double time = 0;
    double bytes = 0;
    bool ok = false;
};

// Runs `body() -> child_result` in a forked process; a child that dies gives a result that is not ok.
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
    if (pid < 0 || ::read(ends[0], &result, sizeof result) != static_cast<ssize_t>(sizeof result)) result = {};
    close(ends[0]);
    int status = 0;
    if (pid > 0) waitpid(pid, &status, 0);
    if (WIFSIGNALED(status)) std::fprintf(stderr, "bench: a run ended by signal %d\n", WTERMSIG(status));
    return result;
}

} // namespace tulle::bench
