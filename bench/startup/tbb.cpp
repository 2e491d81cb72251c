// SPDX-License-Identifier: Apache-2.0
#include "startup.hpp"

#include <tbb/task_group.h>

namespace tulle::bench {

benchmark const registered("startup", "tbb", [](int argc, char** argv) {
    return startup_main(argc, argv, "tbb", [] {
        bool has_run = false;
        tbb::task_group threads;
        threads.run([&] { has_run = true; });
        threads.wait();
        return has_run;
    });
});

} // namespace tulle::bench
