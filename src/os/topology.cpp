// SPDX-License-Identifier: Apache-2.0
#include "os/topology.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <mutex>
#include <numeric>

#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

namespace tulle::os {
namespace {

struct topology_deleter {
    void operator()(hwloc_topology* machine) const noexcept { hwloc_topology_destroy(machine); }
};
using machine_handle = std::unique_ptr<hwloc_topology, topology_deleter>;

machine_handle load_machine() {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) {
        return nullptr;
    }
    machine_handle machine(raw);
    return hwloc_topology_load(raw) == 0 ? std::move(machine) : nullptr;
}

int online_cpus() { return static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))); }

/// The affinity mask of a thread; 0: the caller; all online CPUs where it cannot be read. Never empty.
std::vector<int> allowed_cpus(pid_t thread) {
    constexpr std::size_t k_most_cpus = 8192;
    std::vector<int> cpus;
    cpu_set_t set[k_most_cpus / CPU_SETSIZE];
    if (::sched_getaffinity(thread, sizeof set, set) == 0) {
        for (std::size_t cpu = 0; cpu < k_most_cpus; ++cpu) {
            if (CPU_ISSET_S(cpu, sizeof set, set)) {
                cpus.push_back(static_cast<int>(cpu));
            }
        }
    }
    if (cpus.empty()) {
        cpus.resize(static_cast<std::size_t>(online_cpus()));
        std::iota(cpus.begin(), cpus.end(), 0);
    }
    return cpus;
}

int cache_of(hwloc_obj_t unit) {
    for (hwloc_obj_t above = unit->parent; above != nullptr; above = above->parent) {
        if (above->type == HWLOC_OBJ_L3CACHE) {
            return static_cast<int>(above->logical_index);
        }
    }
    return -1;
}

locality locality_of(hwloc_obj_t unit) {
    int const node = unit->nodeset == nullptr ? -1 : hwloc_bitmap_first(unit->nodeset);
    return {node, cache_of(unit)};
}

/// Where each CPU is. That does not change, and finding it out takes milliseconds: longer than all the rest of a start.
class locality_map {
public:
    locality of(int cpu) {
        std::lock_guard const held(m_lock);
        auto const place = static_cast<std::size_t>(cpu);
        if (place >= m_of_cpu.size() || m_of_cpu[place] == k_unknown) {
            look(place);
        }
        return m_of_cpu[place];
    }

private:
    static constexpr locality k_unknown{-2, -2};
    static constexpr locality k_nowhere{-1, -1};

    /// Again if there is a CPU that this process was not allowed to see before; what is not seen now is looked for when it is asked for.
    void look(std::size_t wanted) {
        machine_handle const machine = load_machine();
        int const last = machine == nullptr ? -1 : hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(machine.get()));
        m_of_cpu.assign(std::max(wanted + 1, static_cast<std::size_t>(last + 1)), k_unknown);
        for (int cpu = 0; cpu <= last; ++cpu) {
            hwloc_obj_t const unit = hwloc_get_pu_obj_by_os_index(machine.get(), static_cast<unsigned>(cpu));
            if (unit != nullptr) {
                m_of_cpu[static_cast<std::size_t>(cpu)] = locality_of(unit);
            }
        }
        if (m_of_cpu[wanted] == k_unknown) {
            m_of_cpu[wanted] = k_nowhere;
        }
    }

    std::mutex m_lock;
    std::vector<locality> m_of_cpu;
};

locality_map& localities() {
    static auto* const map = new locality_map; // never destroyed: static objects may start the run time
    return *map;
}

std::vector<shepherd_group> group_by_locality(std::vector<int> const& cpus) {
    std::vector<locality> found;
    std::vector<shepherd_group> groups;
    for (int const cpu : cpus) {
        locality const here = localities().of(cpu);
        auto const place = static_cast<std::size_t>(std::find(found.begin(), found.end(), here) - found.begin());
        if (place == found.size()) {
            found.push_back(here);
            groups.emplace_back();
        }
        groups[place].cpus.push_back(cpu);
    }
    return groups;
}

std::string describe(topology const& found) {
    char quota[48] = "no quota";
    if (found.quota_cpus > 0) {
        std::snprintf(quota, sizeof quota, "a quota of %.2f CPUs", found.quota_cpus);
    }
    return std::to_string(found.allowed_cpus) + " CPUs allowed, " + quota + ", " + std::to_string(found.groups.size()) +
           (found.groups.size() == 1 ? " locality domain" : " locality domains");
}

} // namespace

locality locality_of_cpu(int cpu) { return localities().of(cpu); }

int workers_for(int allowed_cpus, double quota_cpus) noexcept {
    double const wanted = quota_cpus > 0 ? std::min(std::ceil(quota_cpus), double(allowed_cpus)) : allowed_cpus;
    return std::max(1, static_cast<int>(wanted));
}

topology undivided() {
    topology found;
    found.groups.push_back({allowed_cpus(0)});
    found.allowed_cpus = found.machine_cpus = static_cast<int>(found.groups.front().cpus.size());
    found.description = describe(found);
    return found;
}

topology discover(cgroup_files const& cgroups) {
    std::vector<int> const cpus = allowed_cpus(0);
    topology found;
    found.allowed_cpus = static_cast<int>(cpus.size());
    found.machine_cpus = std::max(found.allowed_cpus, online_cpus());
    found.quota_cpus = cgroup_quota(cgroups);
    found.default_workers = workers_for(found.allowed_cpus, found.quota_cpus);
    found.groups = group_by_locality(cpus);
    found.description = describe(found);
    return found;
}

allowance look_again(cgroup_files const& cgroups) { return {allowed_cpus(::getpid()), cgroup_quota(cgroups)}; }

} // namespace tulle::os
