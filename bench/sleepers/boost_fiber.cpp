// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/boost_fiber.hpp"
#include "sleepers.hpp"

namespace {

struct runtime : tulle::bench::boost_fiber_runtime {
    using boost_fiber_runtime::boost_fiber_runtime;
    template <class Time> static void sleep_until(Time when) {
        boost::this_fiber::sleep_until(when);
    }
};

} // namespace

tulle::bench::benchmark const registered("sleepers", "boost_fiber", [](int argc, char** argv) {
    return tulle::bench::sleepers_main<runtime>(argc, argv, {100'000, 5'000});
});
