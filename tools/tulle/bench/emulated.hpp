// SPDX-License-Identifier: Apache-2.0
// Counts of the context switch on other architectures, below emulators, where nothing is timed. The
// script switch-counts of the source tree compiles and counts; a build has a link to it beside the
// benchmark programs, an installation has not.
#pragma once

#include "bench/runner.hpp"

namespace tulle::tool {

struct emulated_plan {
    std::filesystem::path script{};
    std::vector<std::string> architectures{};
    std::vector<std::string> absent{}; // a sentence for each that cannot be counted on
};

// `wanted` empty: all that have a compiler and an emulator here. Throws failure: an architecture
// that is unknown (usage), or one that is wanted and lacks something, or nothing to count with.
[[nodiscard]] emulated_plan plan_emulated(std::filesystem::path const& bench_folder,
                                          std::vector<std::string> const& wanted);

// Counts; the figures go to the result, and what is absent or fails to its notes.
[[nodiscard]] std::vector<figure> count_emulated(emulated_plan const& plan, bench_result& result);

} // namespace tulle::tool
