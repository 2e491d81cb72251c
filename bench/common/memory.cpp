// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include <sys/resource.h>

namespace tulle::bench {

namespace {

// Reads "Key:   123 kB" from a file of /proc, in bytes; 0 if it is not there.
double proc_bytes(char const* path, std::string const& key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        if (line.compare(0, key.size(), key) == 0)
            return 1024.0 * std::strtod(line.c_str() + key.size(), nullptr);
    return 0;
}

} // namespace

double resident_bytes() { return proc_bytes("/proc/self/smaps_rollup", "Rss:"); }
double peak_resident_bytes() { return proc_bytes("/proc/self/status", "VmHWM:"); }

double available_bytes() {
    double available = proc_bytes("/proc/meminfo", "MemAvailable:");
    auto const limit_by = [&available](std::string const& limit, std::string const& used) {
        double most = 0;
        double now = 0;
        if (std::ifstream(limit) >> most && std::ifstream(used) >> now)
            available = std::min(available, std::max(most - now, 0.0));
    };
    limit_by("/sys/fs/cgroup/memory.max",
             "/sys/fs/cgroup/memory.current"); // "max", no number: no limit
    limit_by("/sys/fs/cgroup/memory/memory.limit_in_bytes",
             "/sys/fs/cgroup/memory/memory.usage_in_bytes");
    rlimit space{};
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
        double const used = proc_bytes("/proc/self/status", "VmSize:");
        available = std::min(available, std::max(static_cast<double>(space.rlim_cur) - used, 0.0));
    }
    return available;
}

} // namespace tulle::bench
