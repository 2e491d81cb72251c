// SPDX-License-Identifier: Apache-2.0
// Runs benchmark programs in turn (A B C A B C ...), so that a drift of the machine meets all of
// them alike, and puts the figures of each library together. Progress goes to standard error.
#pragma once

#include "bench/catalog.hpp"
#include "bench/figure.hpp"
#include "bench/hosts.hpp"

#include <functional>
#include <optional>

namespace tulle::tool {

struct bench_settings {
    std::vector<std::string> names{}; // empty: all
    std::filesystem::path folder{};
    bool quick = false;
    bool peers = true;
    int runs = 5;
    std::vector<int> workers{};         // none: as the workload has it
    std::vector<int> places{};          // likewise
    long size = 0;                      // `n` of each program; 0: its own
    std::optional<bench_hosts> hosts{}; // of the places; none: this one
    // Of those from sources of the user: where they are, and which of its programs; none: all.
    std::filesystem::path sources{};
    std::vector<std::string> programs{};
    int unit = 0; // bytes of their copies that are brought at once; 0: what suits each program
    std::filesystem::path processor_times{"/proc/stat"}; // tests have a file of their own
};

struct bench_result {
    std::vector<figure> figures{};
    std::vector<std::string> notes{}; // what was left out, what failed
    bool ok = true;                   // every program ran and every result was right
};

// `report` gets the figures of each workload as soon as it is done.
using bench_report = std::function<void(workload const&, std::vector<figure> const&)>;

[[nodiscard]] bench_result run_benches(bench_settings const& settings, bench_report const& report);

} // namespace tulle::tool
