// SPDX-License-Identifier: Apache-2.0
//
// main() of a soak program: PROGRAM FIRST COUNT [LEFT_OUT] runs COUNT random programs, of the seeds
// from FIRST on. LEFT_OUT: numbers of steps, separated by commas. Started by scripts/soak, which
// watches it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

namespace soak {

[[nodiscard]] inline std::set<int> numbers(std::string const& text) {
    std::set<int> found;
    for (std::size_t at = 0; at < text.size();
         at = text.find(',', at) == std::string::npos ? text.size() : text.find(',', at) + 1) {
        found.insert(std::atoi(text.c_str() + at));
    }
    return found;
}

// run_seed(seed, left_out): prints "seed N steps M" before it runs, and what differs; true: as the
// model says.
template <class Run> int run_programs(int argc, char** argv, Run run_seed) {
    if (argc < 3 || argc > 4) {
        std::fprintf(stderr, "usage: %s FIRST COUNT [LEFT_OUT]\n", argv[0]);
        return 2;
    }
    std::uint64_t const first = std::strtoull(argv[1], nullptr, 0);
    std::uint64_t const count = std::strtoull(argv[2], nullptr, 0);
    std::set<int> const left_out = numbers(argc > 3 ? argv[3] : "");
    for (std::uint64_t k = 0; k < count; ++k) {
        if (!run_seed(first + k, left_out)) return 1;
    }
    return 0;
}

} // namespace soak
