// SPDX-License-Identifier: Apache-2.0
// The fourteen programs of SPLASH-2, thirteen of which the paper on DSZOOM measures: where they lie
// in a suite, how they are started at a size, and which lines of what they print are their result.
// Their sources are somebody else's and not here.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace tulle::tool {

struct splash_size {
    std::string words; // of the command line; {P} stands for the number of processes
    std::string input; // what it reads from standard input; likewise
    long n;
    std::string data = {}; // a file in its folder without which there is nothing to compute
    // How the paths of files begin that it writes, all of which is result.
    std::string pictures = {};
};

struct splash_program {
    std::string name;   // as in the paper
    std::string folder; // in the suite
    splash_size paper;  // the paper's table 2; what the paper leaves out: the suite's own size
    splash_size quick;
    std::string results; // of lines; empty: it prints none
    // Of numbers: how far they may be from those of another run, in parts of the greater one.
    double tolerance = 0;
    // Likewise for seven of eight lines, where few may be further away; 0: all are as above.
    double tolerance_of_most = 0;
    // Bytes of each picture that may differ, as the program writes them from memory that it has
    // not set; padding in the directory of a TIFF is not counted.
    std::size_t unset_bytes = 0;
    std::vector<std::string> options = {}; // of the compiler, for this program
    // How many bytes of a copy are brought at once, where other than the library's default suits
    // the program: little where several write side by side, much where each writes long runs.
    int unit = 0;
    // A source of ours among the benchmarks, linked to a program that prints no result: it does so
    // where the program ends.
    std::string printed_by = {};
};

[[nodiscard]] std::vector<splash_program> const& splash_programs();

// The folder of the suite that has kernels/ and apps/: that one, codes/ in it, or another one in
// it. Throws failure: there is none.
[[nodiscard]] std::filesystem::path find_splash_suite(std::filesystem::path const& given);

} // namespace tulle::tool
