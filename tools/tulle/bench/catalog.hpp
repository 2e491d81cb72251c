// SPDX-License-Identifier: Apache-2.0
// What can be measured: the workloads, and the programs that measure them, which are found beside
// this program and say which of them they have.
#pragma once

#include "process.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tulle::tool {

// How many places a workload can do with.
struct places_range {
    int least = 1;
    int most = 1024;
};

struct workload {
    std::string_view name;
    std::string_view sentence;
    std::vector<int> workers; // the numbers of workers that it is run with
    bool backends = false;    // ours runs over several context switches, beside each other
    // The numbers of places that it is run with; none: it is not about places.
    std::vector<int> places{};
    bool one_host = false; // its places load and store in each other's memory
    places_range possible{};
};

// A name for several workloads.
struct workload_set {
    std::string_view name;
    std::string_view sentence;
    std::vector<std::string_view> members;
};

[[nodiscard]] std::vector<workload> const& workloads();
[[nodiscard]] std::vector<workload_set> const& workload_sets();

// The workloads that are named themselves or by a set, each once, or all if there are no names.
// Throws failure (usage).
[[nodiscard]] std::vector<workload const*> workloads_named(std::vector<std::string> const& names);
[[nodiscard]] bool compares_backends(std::string_view bench);

// One library, or a variant of it, for one workload.
struct contestant {
    std::string bench;
    std::string library;
    arguments command;
    // Over which its places are on several hosts; empty: they are on this one, or it has none.
    std::string mpi{};
};

// What is measured when somebody asks for these numbers of places instead of the workload's own;
// none: nobody does. Throws failure (usage): it is not over places, or not over so many.
[[nodiscard]] std::vector<int> places_instead(workload const& w, std::vector<int> const& asked);

// As far as it is over places, and over so many; none of these: its own.
[[nodiscard]] std::vector<int> possible_places(workload const& w, std::vector<int> const& asked);

// What starts it with so many places on this host: `tulle run` our own programs, its launcher one
// of an MPI; others start them themselves.
[[nodiscard]] arguments start_with_places(contestant const& c, int places);

// What the programs of a folder have.
struct bench_programs {
    std::vector<contestant> contestants{}; // in alphabetical order, ours before the others
    // A sentence for each program that does not say what it has.
    std::vector<std::string> absent{};
    bool is_ours_absent = false; // one of these is ours
};

// Asks the programs bench-LIBRARY of a folder, of peers only if they are wanted. Those of earlier
// versions, bench-WORKLOAD-LIBRARY, are passed over.
[[nodiscard]] bench_programs ask_programs(std::filesystem::path const& folder, bool peers);

// Where they are: ../libexec/tulle beside this program, in the build tree as where installed.
[[nodiscard]] std::filesystem::path default_bench_folder();

} // namespace tulle::tool
