// SPDX-License-Identifier: Apache-2.0
// Finds threads that wait for each other in a circle while others go on. The process is not stopped
// for it, so a search may see threads one after the other in states that they have never been in
// at one time; and what they wait for may be gone, so it is read with care. Such a circle needs
// locks that are taken in two orders, and has to be seen by several searches, as the same threads
// at the same objects, before it counts: those that are real are still there.
#pragma once

#include "diag/wait_graph.hpp"
#include "sched/scheduler.hpp"
#include "sched/watch/census.hpp"

#include <cstdint>
#include <memory_resource>
#include <vector>

namespace tulle::diag {

class circle_finder {
public:
    static constexpr int k_sightings = 4;

    // Searches once; one call at a time.
    [[nodiscard]] sched::circle_search search(sched::scheduler& searched) noexcept;
    // Whether this thread is in a circle that the last search has found.
    [[nodiscard]] bool is_member(sched::thread_view const& seen) const noexcept;

private:
    using circle = std::pmr::vector<wait_graph::node>;
    struct sighting {
        std::uint64_t signature = 0;
        int times = 0;
        bool is_now = false;
    };

    static void add(void* self, sched::thread_view const& seen) noexcept;
    [[nodiscard]] sched::circle_search judge(std::pmr::vector<circle> const& circles);
    [[nodiscard]] sighting& find(std::uint64_t signature);

    std::vector<sched::thread_view> m_waiting; // for something whose holder may be known
    bool m_has_more = false;                   // than there was room for
    std::vector<sighting> m_seen;
    std::vector<wait_graph::node> m_members;
};

} // namespace tulle::diag
