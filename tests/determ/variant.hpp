// SPDX-License-Identifier: Apache-2.0
// Each program here has an error and its repair, chosen by its only argument: `planted` or
// `mended`.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

inline bool is_planted(int argc, char** argv) {
    std::string_view const word = argc == 2 ? argv[1] : "";
    if (word == "planted" || word == "mended") return word == "planted";
    std::fprintf(stderr, "usage: %s planted|mended\n", argv[0]);
    std::exit(2);
}
