// SPDX-License-Identifier: Apache-2.0
// The one object that knows the options and the life of the run time.
#pragma once

#include "base/option.hpp"
#include "runtime/cpu_share.hpp"
#include "runtime/service.hpp"
#include "sched/scheduler.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace tulle::runtime {

// How many workers there are at the start, and how many there may be.
struct worker_limits {
    int workers;
    int most;
};
// Nothing: more workers were asked for than there may be.
[[nodiscard]] std::optional<worker_limits> limits_of(base::option_table const& options,
                                                     os::topology const& machine);
// What the scheduler is started with. Nothing: see limits_of.
[[nodiscard]] std::optional<sched::settings> settings_of(base::option_table const& options,
                                                         bool adopt_caller);

class instance {
public:
    instance();

    // EINVAL of start: see limits_of.
    [[nodiscard]] start_result start(bool adopt_caller);
    // For threads of a program that knows nothing of places: the process is none, also where `tulle
    // run -n` or an MPI has started it. The caller stays an OS thread.
    [[nodiscard]] start_result start_alone();
    // 0: as the options say
    [[nodiscard]] start_result start_with(std::uint64_t workers, std::uint64_t stack_size);
    [[nodiscard]] int stop(); // 0 or a positive errno
    // 0: as many as the affinity mask and the quota call for now; these are read from `cgroups`,
    // for tests.
    [[nodiscard]] static int set_workers(int wanted, os::cgroup_files const& cgroups = {});
    [[nodiscard]] cpu_share& cpus() noexcept { return m_cpus; }
    [[nodiscard]] std::string describe_live_threads();
    // Writes what the options `stack_report` and `explain` ask for, at the end of the process or
    // after stop(), unless that has been done or another thread is at it.
    void report() noexcept;
    void before_process_fork() noexcept;
    void after_process_fork(bool in_child) noexcept;
    [[nodiscard]] base::option_error set_option(std::string_view name, std::string_view value);
    // Afterwards it is as if no option had been set since the process began, but for its
    // environment as it is now. For tests; the run time must not be up.
    void forget_options();
    [[nodiscard]] std::uint64_t number_of(base::option_id id) noexcept;
    [[nodiscard]] std::uint64_t seed();
    [[nodiscard]] base::option_table const& options() const noexcept { return m_options; }

private:
    // Called with the lock held.
    [[nodiscard]] start_result start_as(base::option_table const& options, bool adopt_caller);
    static void join_places();
    void owe_reports(base::option_table const& options) noexcept;
    void expect_end_of_process() noexcept;
    void write_reports() noexcept;

    std::mutex m_lock;
    base::option_table m_options;
    cpu_share m_cpus;               // joined and left with the lock held
    bool m_reports_at_exit = false; // report is registered; guarded by m_lock, as the next ones
    bool m_expects_end = false;     // of the process
    bool m_owes_stacks = false;     // the table of what has run since the start
    bool m_owes_explanation = false;
    bool m_is_prepared_for_fork = false; // written with the lock held
};

[[nodiscard]] instance& the();
// What has to be done about forks of the process is done from now on; else from the first use of
// the(). Handlers of forks that are registered later find the run time as it is: they are called
// before it prepares, and after it has recovered.
void expect_process_forks();

} // namespace tulle::runtime
