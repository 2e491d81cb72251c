// SPDX-License-Identifier: Apache-2.0
#include "os/topology.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <utility>

#include <unistd.h>

#include "os/locality.hpp"
#include "os/thread.hpp"

namespace tulle::os {
namespace {

int online_cpus() { return static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))); }

// The affinity mask of a thread; 0: the caller; all online CPUs where it cannot be read. Never
// empty.
std::vector<int> allowed_cpus(pid_t thread) {
    std::vector<int> cpus = affinity_of(thread);
    if (cpus.empty()) {
        cpus.resize(static_cast<std::size_t>(online_cpus()));
        std::iota(cpus.begin(), cpus.end(), 0);
    }
    return cpus;
}

// Where each CPU is. That does not change.
class locality_map {
public:
    void lock() noexcept { m_lock.lock(); }
    void unlock() noexcept { m_lock.unlock(); }
    locality of(int cpu) {
        std::lock_guard const held(m_lock);
        auto const index = static_cast<std::size_t>(cpu);
        if (index >= m_of_cpu.size() || m_of_cpu[index] == k_unknown) {
            search(index);
        }
        return m_of_cpu[index];
    }

private:
    static constexpr locality k_unknown = k_unknown_locality;
    static constexpr locality k_nowhere{-1, -1};

    // Reads the system's files again if there is a CPU that this process was not allowed to see
    // before; one that was searched in vain does not cause that.
    void search(std::size_t wanted) {
        std::vector<locality> found = find_localities();
        found.resize(std::max({wanted + 1, found.size(), m_of_cpu.size()}), k_unknown);
        for (std::size_t index = 0; index < found.size(); ++index) {
            bool const was_nowhere = index < m_of_cpu.size() && m_of_cpu[index] == k_nowhere;
            if (found[index] == k_unknown && (was_nowhere || index == wanted)) {
                found[index] = k_nowhere;
            }
        }
        m_of_cpu = std::move(found);
    }

    std::mutex m_lock;
    std::vector<locality> m_of_cpu;
};

locality_map& localities() {
    // Never destroyed: static objects may start the run time.
    alignas(locality_map) static std::byte s_storage[sizeof(locality_map)];
    static auto* const map = ::new (static_cast<void*>(s_storage)) locality_map;
    return *map;
}

std::vector<shepherd_group> group_by_locality(std::vector<int> const& cpus) {
    if (cpus.size() == 1) return {{cpus}};
    std::vector<locality> found;
    std::vector<shepherd_group> groups;
    for (int const cpu : cpus) {
        locality const here = localities().of(cpu);
        auto const index =
            static_cast<std::size_t>(std::find(found.begin(), found.end(), here) - found.begin());
        if (index == found.size()) {
            found.push_back(here);
            groups.emplace_back();
        }
        groups[index].cpus.push_back(cpu);
    }
    return groups;
}

std::string describe(topology const& found) {
    char quota[48] = "no quota";
    if (found.quota_cpus > 0) {
        std::snprintf(quota, sizeof quota, "a quota of %.2f CPUs", found.quota_cpus);
    }
    return std::to_string(found.allowed_cpus) + " CPUs allowed, " + quota + ", " +
           std::to_string(found.groups.size()) +
           (found.groups.size() == 1 ? " locality domain" : " locality domains");
}

} // namespace

locality locality_of_cpu(int cpu) { return localities().of(cpu); }

void lock_localities() noexcept { localities().lock(); }
void unlock_localities() noexcept { localities().unlock(); }

int workers_for(int allowed_cpus, double quota_cpus) noexcept {
    double const wanted =
        quota_cpus > 0 ? std::min(std::ceil(quota_cpus), double(allowed_cpus)) : allowed_cpus;
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

bool set_aside(topology& machine, std::size_t index) {
    std::vector<int> all;
    for (auto const& group : machine.groups) {
        all.insert(all.end(), group.cpus.begin(), group.cpus.end());
    }
    if (index >= all.size() || all.size() == 1) {
        return false;
    }
    std::sort(all.begin(), all.end());
    machine.reserved_cpu = all[index];
    for (auto& group : machine.groups) {
        std::erase(group.cpus, machine.reserved_cpu);
    }
    std::erase_if(machine.groups, [](shepherd_group const& group) { return group.cpus.empty(); });
    --machine.allowed_cpus;
    double const quota = machine.quota_cpus > 0 ? std::max(1.0, machine.quota_cpus - 1) : 0;
    machine.default_workers =
        std::min(machine.default_workers, workers_for(machine.allowed_cpus, quota));
    return true;
}

allowance read_allowance(cgroup_files const& cgroups) {
    return {allowed_cpus(::getpid()), cgroup_quota(cgroups)};
}

} // namespace tulle::os
