// SPDX-License-Identifier: Apache-2.0
#include "startup.hpp"

#include <thread>

namespace tulle::bench {

benchmark const registered("startup", "std", [](int argc, char** argv) {
    return startup_main(argc, argv, "std", [] {
        bool has_run = false;
        std::thread([&] { has_run = true; }).join();
        return has_run;
    });
});

} // namespace tulle::bench
