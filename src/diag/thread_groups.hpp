// SPDX-License-Identifier: Apache-2.0
// Threads that are alike: spawned at the same call site, waiting for the same kind of thing, with
// the same calls on their stacks.
#pragma once

#include "diag/circle_finder.hpp"
#include "diag/stack_trace.hpp"
#include "diag/wait_graph.hpp"
#include "sched/watch/census.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <unordered_map>
#include <vector>

namespace tulle::diag {

struct thread_group {
    static constexpr std::size_t k_most_ids = 8;

    explicit thread_group(std::pmr::memory_resource* memory) : pcs(memory) {}

    sched::thread_view first;             // of the group
    std::pmr::vector<std::uintptr_t> pcs; // empty: the stack is not known
    bool cut = false;
    std::size_t count = 0;
    std::array<thread_id, k_most_ids> ids{}; // the smallest, in order
    bool same_object = true;                 // all wait for the same
};

class thread_groups {
public:
    explicit thread_groups(std::pmr::memory_resource& memory)
        : m_memory(memory), m_groups(&memory), m_index(&memory), m_graph(memory) {}

    // Null: all threads; else those of the circles that were found last. False: memory was short,
    // so something is missing.
    [[nodiscard]] bool collect(sched::scheduler& scheduler,
                               circle_finder const* members = nullptr) noexcept;
    [[nodiscard]] std::pmr::vector<thread_group> const& groups() const noexcept { return m_groups; }
    [[nodiscard]] wait_graph& graph() noexcept { return m_graph; }
    [[nodiscard]] std::size_t count() const noexcept { return m_count; }
    [[nodiscard]] std::size_t running() const noexcept { return m_running; }

private:
    void add(sched::thread_view const& seen);
    [[nodiscard]] thread_group& group_of(sched::thread_view const& seen, stack_trace const& trace);

    std::pmr::memory_resource& m_memory;
    std::pmr::vector<thread_group> m_groups;
    // Groups by a hash of what makes threads alike.
    std::pmr::unordered_multimap<std::uint64_t, std::size_t> m_index;
    wait_graph m_graph;
    std::size_t m_count = 0, m_running = 0;
};

} // namespace tulle::diag
