// SPDX-License-Identifier: Apache-2.0
//
// Each place says where it runs: `tulle run -n 4 hello_places`.
#include "common/places.hpp"
#include "common/program.hpp"

#include <array>
#include <cstdio>

#include <unistd.h>

namespace {

using namespace examples;

// Each place has its own copy of all variables, so place 0 alone writes this one.
int main_process = 0;

void introduce() {
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    std::printf("place %d of %d: process %d of %s, %d workers\n", tulle::here().index(),
                tulle::place_count(), getpid(), host.data(), tulle::worker_count());
}

bool knows_main_process() { return main_process != 0; }

int greet() {
    main_process = getpid();
    everywhere([] { introduce(); });
    int who_know = 0;
    for (bool const knows : gather([] { return knows_main_process(); })) who_know += knows ? 1 : 0;
    return who_know == 1 ? k_exit_ok : k_exit_check_failed;
}

} // namespace

int main(int argc, char** argv) {
    command_line line{"Each place says where it runs.", "hello_places"};
    return line.run(argc, argv, [] {
        // Other places than the first stay here, and do what they are told.
        runtime_session const session(common_options{});
        return greet();
    });
}
