// SPDX-License-Identifier: Apache-2.0
// The workers that share a locality domain, and the threads that were placed on them or came from
// outside.
#pragma once

#include "sched/growing_list.hpp"
#include "sched/queues/shared_queue.hpp"

#include <atomic>
#include <utility>
#include <vector>

namespace tulle::sched {

struct worker_remote;

struct shepherd {
    shepherd(int its_index, std::vector<int> its_cpus)
        : index(its_index), cpus(std::move(its_cpus)) {}

    // Threads were placed here that no worker of its own will run. A hint; before a sleep it is
    // read after the heavy fence.
    [[nodiscard]] bool has_orphan() const noexcept {
        // relaxed: as said.
        return placed.size_hint() != 0 && active.load(std::memory_order_relaxed) == 0;
    }

    int index;
    int first_cpu = -1;                   // at the start
    std::atomic<bool> is_disabled{false}; // written under active_workers::m_changing
    std::vector<int> cpus;                // guarded by active_workers::m_changing
    std::vector<int> domain;              // `cpus` at the start
    growing_list<worker_remote*> workers; // active or standing by
    // How many of them are active; 0: anyone may run what was placed here.
    std::atomic<int> active{0};
    shared_queue placed;   // only for workers of this shepherd
    shared_queue injected; // for anyone
};

} // namespace tulle::sched
