// SPDX-License-Identifier: Apache-2.0
// Processes that do something by turns, over their number: what a run has found, and its figures.
#pragma once

#include "harness.hpp"

#include <array>
#include <thread>
#include <vector>

namespace tulle::bench {

inline constexpr std::array k_process_counts{1, 2, 4, 8, 12, 16, 20};

struct counted {
    double took; // seconds, from when all are there until the last has finished
    long turns;  // that it is divided by
    bool right;  // what they have done together is what it should be
};

// Of one process, by a clock that all have.
struct interval {
    double began = 0;
    double ended = 0;
};

template <class Body> interval interval_of(Body body) {
    interval own{seconds(), 0};
    body();
    own.ended = seconds();
    return own;
}

// `run`: takes a number of processes and how often each counts. At most as many processes as there
// are places.
template <class Run>
std::vector<figure> count_by_processes(settings const& s, long turns, Run const& run) {
    std::vector<figure> figures;
    for (int const processes : k_process_counts) {
        if (processes > s.places) break;
        figure cost("ns, " + std::to_string(processes) + " processes",
                    {"", "processes", static_cast<double>(processes)});
        long const each = std::max(1L, turns / processes);
        for (int k = -1; k < s.runs; ++k) { // run -1 warms up
            counted const found = run(processes, each);
            if (k >= 0) cost.add(1e9 * found.took / static_cast<double>(found.turns), found.right);
        }
        figures.push_back(cost);
    }
    return figures;
}

} // namespace tulle::bench
