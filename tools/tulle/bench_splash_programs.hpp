// SPDX-License-Identifier: Apache-2.0
// The thirteen programs of SPLASH-2 that the paper on DSZOOM measures: where they lie in a suite,
// how they are started at a size, and which lines of what they print are their result. Their
// sources are somebody else's and not here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tulle::tool {

struct splash_size {
    std::string words; // of the command line; {P} stands for the number of processes
    std::string input; // what it reads from standard input; likewise
    long n;
    std::string data = {};    // a file in its folder without which there is nothing to compute
    std::string picture = {}; // a file that it writes, all of which is result
};

struct splash_program {
    std::string name;   // as in the paper
    std::string folder; // in the suite
    splash_size paper;  // the paper's table 2
    splash_size quick;
    std::string results; // of lines; empty: it prints none
    // Of numbers: how far they may be from those of another run, in parts of the greater one.
    double tolerance = 0;
};

[[nodiscard]] std::vector<splash_program> const& splash_programs();

// The folder of the suite that has kernels/ and apps/: that one, codes/ in it, or another one in
// it. Throws failure: there is none.
[[nodiscard]] std::filesystem::path find_splash_suite(std::filesystem::path const& given);

} // namespace tulle::tool
