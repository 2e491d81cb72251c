// SPDX-License-Identifier: Apache-2.0
// The program of one library: bench-LIBRARY WORKLOAD VARIANT [OPTION ...] runs one of its
// benchmarks; --list prints a line "WORKLOAD VARIANT" for each.
#include "harness.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tulle::bench {
namespace {

int list() {
    std::vector<std::string> lines;
    for (benchmark const* b = benchmark::first(); b != nullptr; b = b->next())
        lines.push_back(b->workload() + std::string(" ") + b->library());
    std::sort(lines.begin(), lines.end());
    for (std::string const& line : lines) std::puts(line.c_str());
    return std::fflush(stdout) == 0 ? 0 : 1;
}

benchmark const* find(char const* workload, char const* library) {
    benchmark const* b = benchmark::first();
    while (b != nullptr &&
           (std::strcmp(b->workload(), workload) != 0 || std::strcmp(b->library(), library) != 0))
        b = b->next();
    return b;
}

int run(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0) return list();
    if (argc < 3) usage(argv[0], "a workload and a library are missing");
    benchmark const* const chosen = find(argv[1], argv[2]);
    if (chosen == nullptr)
        usage(argv[0], (argv[1] + std::string(" ") + argv[2] + " is not here").c_str());
    argv[2] = argv[0]; // the program's name, for which the benchmark looks before its options
    return chosen->run(argc - 2, argv + 2);
}

} // namespace
} // namespace tulle::bench

int main(int argc, char** argv) { return tulle::bench::run(argc, argv); }
