// SPDX-License-Identifier: Apache-2.0
// Which thread waits for which, as far as that is known: each thread waits for one other at most,
// so a walk along the waits ends or goes in a circle.
#pragma once

#include "sched/watch/census.hpp"
#include "sync/inspect.hpp"

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

namespace tulle::diag {

class wait_graph {
public:
    struct node {
        thread_id id = 0;
        wait::wait_reason waits;
        sync::holder holder;
        void const* stolen_word = nullptr; // waits for the forked thread with this state
    };

    explicit wait_graph(std::pmr::memory_resource& memory)
        : m_nodes(&memory),
          m_by_id(&memory),
          m_by_stack(&memory),
          m_by_word(&memory),
          m_seen_in(&memory),
          m_memory(memory) {}

    // A thread of which it is not known which one it waits for is left out: it is in no circle.
    void add(sched::thread_view const& seen, node const& n);
    // The circles, each as the threads along it; at most so many.
    [[nodiscard]] std::pmr::vector<std::pmr::vector<node>> circles(std::size_t most);

private:
    template <class Key> struct entry {
        Key key;
        std::uint32_t node;
        [[nodiscard]] bool operator<(entry const& other) const noexcept { return key < other.key; }
    };
    static constexpr std::uint32_t k_none = UINT32_MAX;

    [[nodiscard]] std::uint32_t next(std::uint32_t index) const noexcept;
    [[nodiscard]] std::pmr::vector<node> walk(std::uint32_t start);

    std::pmr::vector<node> m_nodes;
    std::pmr::vector<entry<std::uint64_t>> m_by_id;
    std::pmr::vector<entry<std::uintptr_t>> m_by_stack;
    std::pmr::vector<entry<std::uintptr_t>> m_by_word;
    std::pmr::vector<std::uint32_t> m_seen_in; // the walk that came by first, from 1; 0: none
    std::pmr::memory_resource& m_memory;
};

} // namespace tulle::diag
