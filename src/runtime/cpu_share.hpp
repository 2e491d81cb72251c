// SPDX-License-Identifier: Apache-2.0
// The CPUs of this program, if it shares those of the machine with others. How many workers there
// are, and where they run, follows from them.
#pragma once

#include "cpus/member.hpp"
#include "os/cgroup.hpp"
#include "sched/scheduler.hpp"

#include <tulle/cpus.hpp>

#include <vector>

namespace tulle::runtime {

class cpu_share {
public:
    // Called when the scheduler has been started with these settings. Warns if there is nothing to
    // share.
    void join(sched::settings const& chosen) noexcept;
    // Called before the scheduler stops, if it has joined.
    void leave() noexcept;

    // Any thread may call these while the scheduler runs. 0; ENOTSUP: it has not joined; EINVAL; or
    // an error of cpus::member. Both throw std::bad_alloc.
    [[nodiscard]] int want(cpu_wish const& wanted);
    // Does what instance::set_workers does for a program that shares CPUs.
    [[nodiscard]] int set_workers(int most, os::cgroup_files const& cgroups);
    [[nodiscard]] std::vector<int> own();

    void before_process_fork() noexcept { m_member.before_process_fork(); }
    void after_process_fork(bool in_child) noexcept;

private:
    cpus::member m_member;
};

// What the affinity mask and the quota say now, but for the CPU that is reserved.
[[nodiscard]] os::allowance allowance_now(os::cgroup_files const& cgroups);

} // namespace tulle::runtime
