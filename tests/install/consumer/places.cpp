// SPDX-License-Identifier: Apache-2.0
// Prints how many places there are, and in how many processes they have run something.
#include <tulle/tulle.hpp>

#include <cstdio>
#include <set>

#include <unistd.h>

int main() {
    std::set<pid_t> processes;
    for (tulle::place const p : tulle::places())
        processes.insert(tulle::at(p, [] { return getpid(); }));
    std::printf("%d places in %zu processes\n", tulle::place_count(), processes.size());
}
