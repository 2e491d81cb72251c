// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu_share.hpp"

#include "base/error.hpp"
#include "os/thread.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

namespace tulle::runtime {

namespace {

int count(std::vector<int> const& cpus) { return static_cast<int>(cpus.size()); }

void note_helper(int tid) noexcept { sched::scheduler::instance().standstills().set_helper(tid); }

// The workers come first: that alone can fail.
bool follow(std::vector<int> const& from, std::vector<int> const& to) noexcept try {
    auto& s = sched::scheduler::instance();
    if (s.active().set_count(
            std::min(os::workers_for(count(to), os::cgroup_quota()), s.chosen().max_workers)) != 0)
        return false;
    os::move_threads(from, to);
    s.active().move_to(to);
    return true;
} catch (std::bad_alloc const&) {
    return true; // locality only
}

void end(std::string const& why) noexcept {
    base::warn("processors are no longer shared: %s", why.c_str());
    note_helper(0);
}

std::vector<int> cpus_of(os::topology const& machine) {
    std::vector<int> all;
    for (auto const& group : machine.groups)
        all.insert(all.end(), group.cpus.begin(), group.cpus.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

void leave_reserved(std::vector<int>& cpus) {
    if (cpus.size() > 1)
        std::erase(cpus, sched::scheduler::instance().chosen().machine.reserved_cpu);
}

} // namespace

os::allowance allowance_now(os::cgroup_files const& cgroups) {
    os::allowance now = os::read_allowance(cgroups);
    leave_reserved(now.cpus);
    return now;
}

void cpu_share::join(sched::settings const& chosen) noexcept try {
    int const error = m_member.join(cpus::registry::default_path(), cpus_of(chosen.machine),
                                    {1, chosen.workers, 1}, {&note_helper, &follow, &end});
    if (error == 0) return;
    base::warn("processors are not shared: %s",
               m_member.why().empty() ? std::strerror(error) : m_member.why().c_str());
} catch (std::bad_alloc const&) {
    base::warn("processors are not shared: no memory");
}

void cpu_share::leave() noexcept {
    m_member.leave();
    note_helper(0);
}

void cpu_share::after_process_fork(bool in_child) noexcept {
    m_member.after_process_fork(in_child);
    if (in_child) note_helper(0);
}

int cpu_share::want(cpu_wish const& wanted) {
    int const limit = sched::scheduler::instance().chosen().max_workers;
    int const most = wanted.most == 0 ? limit : wanted.most;
    return most > limit ? EINVAL : m_member.want({wanted.least, most, wanted.weight});
}

int cpu_share::set_workers(int most, os::cgroup_files const& cgroups) {
    auto const before = m_member.wanted();
    if (!before) return ENOTSUP;
    int const limit = sched::scheduler::instance().chosen().max_workers;
    if (most < 0 || most > limit) return EINVAL;
    if (most != 0) return m_member.want({std::min(before->least, most), most, before->weight});
    std::vector<int> may = m_member.may_now();
    leave_reserved(may);
    int const all = std::min(os::workers_for(count(may), os::cgroup_quota(cgroups)), limit);
    return m_member.want({std::min(before->least, all), all, before->weight}, may);
}

std::vector<int> cpu_share::own() {
    if (m_member.wanted()) return m_member.has();
    return allowance_now({}).cpus;
}

} // namespace tulle::runtime
