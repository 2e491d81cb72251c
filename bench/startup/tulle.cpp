// SPDX-License-Identifier: Apache-2.0
#include "startup.hpp"

#include <tulle/thread.hpp>

namespace tulle::bench {

benchmark const registered("startup", "tulle", [](int argc, char** argv) {
    return startup_main(argc, argv, "tulle", [] {
        bool has_run = false;
        tulle::spawn([&] { has_run = true; }).join();
        return has_run;
    });
});

} // namespace tulle::bench
