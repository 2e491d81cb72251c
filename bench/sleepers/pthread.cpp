// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/pthread.hpp"
#include "sleepers.hpp"

#include <thread>

namespace {

struct runtime : tulle::bench::pthread_runtime {
    using pthread_runtime::pthread_runtime;
    template <class Time> static void sleep_until(Time when) {
        std::this_thread::sleep_until(when);
    }
};

} // namespace

tulle::bench::benchmark const registered("sleepers", "pthread", [](int argc, char** argv) {
    return tulle::bench::sleepers_main<runtime>(argc, argv, {8'000, 500});
});
