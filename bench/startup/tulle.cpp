// SPDX-License-Identifier: Apache-2.0
#include "startup.hpp"

#include <tulle/thread.hpp>

int main(int argc, char** argv) {
    return tulle::bench::startup_main(argc, argv, "tulle", [] {
        bool has_run = false;
        tulle::spawn([&] { has_run = true; }).join();
        return has_run;
    });
}
