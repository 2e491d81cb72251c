// SPDX-License-Identifier: Apache-2.0
// The workers of a scheduler, and the shepherds that they belong to. Workers are added while others
// read; none goes before all of them do.
#pragma once

#include "os/topology.hpp"
#include "sched/growing_list.hpp"
#include "sched/shepherd.hpp"
#include "sched/worker.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tulle::sched {

class registry {
public:
    struct plan {
        int workers = 1;      // at the start
        int most_workers = 1; // ever
        // Workers go to the shepherds in turn; else as many as the shepherds' processors call for.
        bool deals_evenly = false;
        std::uint64_t seed = 0; // of the workers' random numbers
    };

    // --- while nobody else reads -----------------------------------------------------------------
    // Makes the shepherds: one for each group of CPUs, but never more than workers; then neighbours
    // share one.
    // Throws std::bad_alloc.
    void open(os::topology const& machine, plan const& chosen);
    void clear() noexcept;
    // Called in a child process: handles and objects of the program may refer to the parent's
    // workers, which stay as they are. Returns what keeps them, or null where there is no memory
    // for that.
    [[nodiscard]] std::unique_ptr<registry> leave_behind() noexcept;

    // --- one thread at a time --------------------------------------------------------------------
    // One more worker; `home` null: of the shepherd that has most room. Throws std::bad_alloc.
    worker& add(scheduler& owner, worker_kind kind, bool asymmetric, shepherd* home);
    // CPUs that workers may run on from now on. Each goes to the shepherd that had it at the start;
    // one that nobody had goes where the fewest are. Throws std::bad_alloc.
    void assign(std::vector<int> const& allowed);
    // For the threads that start and end OS threads of workers. While a worker has one, nobody else
    // may use what is found here.
    [[nodiscard]] growing_list<std::unique_ptr<worker>> const& cores() const noexcept {
        return m_workers;
    }
    [[nodiscard]] worker& core_of(worker_remote const& w) const noexcept {
        return *m_workers[static_cast<std::size_t>(w.index)];
    }

    // --- anyone ----------------------------------------------------------------------------------
    // All workers, with those that stand by.
    [[nodiscard]] growing_list<worker_remote*> const& workers() const noexcept { return m_remotes; }
    [[nodiscard]] std::vector<std::unique_ptr<shepherd>> const& shepherds() const noexcept {
        return m_shepherds;
    }

private:
    friend struct base::debug_access;
    [[nodiscard]] shepherd& roomiest() const noexcept;

    plan m_plan;
    std::vector<std::unique_ptr<shepherd>> m_shepherds;
    growing_list<std::unique_ptr<worker>> m_workers;
    growing_list<worker_remote*> m_remotes; // the same workers
};

} // namespace tulle::sched
