// SPDX-License-Identifier: Apache-2.0
// The CPU time that control groups grant to this process, versions 1 and 2 (Linux,
// Documentation/admin-guide/cgroup-v2:
// cpu.max; scheduler/sched-bwc: cpu.cfs_quota_us). A group is limited by its ancestors too, so
// every level counts.
#pragma once

#include <string>

namespace tulle::os {

// Where the kernel publishes control groups; tests hand in a faked tree.
struct cgroup_files {
    std::string membership = "/proc/self/cgroup"; // lines "id:controllers:path"
    std::string mounts = "/proc/self/mountinfo";  // where the hierarchies are mounted
    std::string root;                             // put in front of every mount point
};

// The smallest quota on the way from the process's group to the root of its hierarchy, in CPUs; 0:
// no limit found.
[[nodiscard]] double cgroup_quota(cgroup_files const& files = {});

} // namespace tulle::os
