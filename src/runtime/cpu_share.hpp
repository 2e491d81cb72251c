// SPDX-License-Identifier: Apache-2.0
// The CPUs of this program, if it shares those of the machine with others: how many workers there
// are, and where they run, follows.
#pragma once

#include "cpus/member.hpp"
#include "os/cgroup.hpp"
#include "sched/scheduler.hpp"

#include <tulle/cpus.hpp>

#include <vector>

namespace tulle::runtime {

class cpu_share {
public:
    // The scheduler has been started so. Warns if there is nothing to share.
    void join(sched::settings const& chosen) noexcept;
    // Before the scheduler stops; if it has joined.
    void leave() noexcept;

    // Any thread; while the scheduler runs. 0; ENOTSUP: it has not joined; EINVAL; or as of
    // cpus::member. Both throw std::bad_alloc.
    [[nodiscard]] int want(cpu_wish const& wanted);
    // As instance::set_workers.
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
