// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "sleepers.hpp"

namespace {

struct runtime : tulle::bench::tulle_blocking_runtime {
    using tulle_blocking_runtime::tulle_blocking_runtime;
    template <class Time> static void sleep_until(Time when) {
        tulle::this_thread::sleep_until(when);
    }
};

} // namespace

tulle::bench::benchmark const registered("sleepers", "tulle", [](int argc, char** argv) {
    return tulle::bench::sleepers_main<runtime>(argc, argv);
});
