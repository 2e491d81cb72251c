// SPDX-License-Identifier: Apache-2.0
// Benchmarks whose places are on several hosts: ours over each MPI, and what each MPI does alone.
#pragma once

#include "bench/catalog.hpp"

namespace tulle::tool {

struct bench_hosts {
    std::string list{};        // "a,b:2", as of `tulle run --hosts`
    std::string mpi{};         // over which; empty: each that is there
    std::vector<int> places{}; // instead of the numbers that a workload is run with; none: these
};

// Of the numbers of places that a workload is run with, those that these hosts hold. Throws failure
// (usage): the list is none, or see places_instead.
[[nodiscard]] std::vector<int> places_on(bench_hosts const& hosts, workload const& w);

// As workloads_named; without names, all that run on these hosts. Throws failure (usage): one is
// not over places that may be on several hosts, or is with other numbers of them.
[[nodiscard]] std::vector<workload const*> workloads_on(bench_hosts const& hosts,
                                                        std::vector<std::string> const& names);

// For each MPI, ours over it and the peers that are programs of it. What needs shared memory is
// left out. Throws failure:
// there is no such MPI.
[[nodiscard]] std::vector<contestant> over_each_mpi(std::vector<contestant> const& found,
                                                    bench_hosts const& hosts);

// As start_with_places, on these hosts.
[[nodiscard]] arguments start_on_hosts(contestant const& c, int places, bench_hosts const& hosts);

} // namespace tulle::tool
