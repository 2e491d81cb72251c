// SPDX-License-Identifier: Apache-2.0
// What this process may run on: the CPUs of its affinity mask, the CPU time its control groups
// grant, and how the CPUs fall into groups that share memory and cache.
#pragma once

#include <string>
#include <vector>

#include "os/cgroup.hpp"
#include "os/locality.hpp"

namespace tulle::os {

// The locality of a CPU that this process may use; slow (milliseconds) the first time.
[[nodiscard]] locality locality_of_cpu(int cpu);

// CPUs that share a NUMA node and, inside it, a last-level cache; numbers are those of the
// operating system, ascending.
struct shepherd_group {
    std::vector<int> cpus;
};

struct topology {
    // CPUs online, whether this process may use them or not; at least allowed_cpus
    int machine_cpus = 1;
    int allowed_cpus = 1; // CPUs in the affinity mask
    // CPUs' worth of time that the control groups grant; <= 0: no limit
    double quota_cpus = 0;
    // allowed_cpus, or fewer where the quota would throttle them; at least 1
    int default_workers = 1;
    // Taken out by set_aside; not counted above, except in machine_cpus; -1: none
    int reserved_cpu = -1;
    // Each allowed CPU but the reserved one in exactly one group
    std::vector<shepherd_group> groups;
    std::string description; // one line for `tulle info`
};

// Reads what the system says of the machine; slow (milliseconds) the first time. Never fails: what
// cannot be read counts as unlimited or flat.
[[nodiscard]] topology discover(cgroup_files const& cgroups = {});

// Takes one of the allowed CPUs, counted from 0, out of the groups; it uses one CPU's worth of the
// quota. False: there is no such CPU, or no other.
[[nodiscard]] bool set_aside(topology& machine, std::size_t index);

// What may change while a process runs: the affinity mask, of the process's first thread, and the
// quota.
struct allowance {
    std::vector<int> cpus; // ascending, never empty
    double quota_cpus = 0; // as in topology
};
[[nodiscard]] allowance read_allowance(cgroup_files const& cgroups = {});

// The CPUs of the affinity mask as one group, for one worker; quick, as nothing else is read.
[[nodiscard]] topology undivided();

// Workers worth starting: a quota of 1.5 CPUs gives 2 of them work; never more than CPUs, never
// fewer than 1.
[[nodiscard]] int workers_for(int allowed_cpus, double quota_cpus) noexcept;

// Called around fork(2): nobody is in the middle of a search for where the CPUs are.
void lock_localities() noexcept;
void unlock_localities() noexcept;

} // namespace tulle::os
