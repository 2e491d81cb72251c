// SPDX-License-Identifier: Apache-2.0
#include "startup.hpp"

#include <thread>

int main(int argc, char** argv) {
    return tulle::bench::startup_main(argc, argv, "std", [] {
        bool has_run = false;
        std::thread([&] { has_run = true; }).join();
        return has_run;
    });
}
