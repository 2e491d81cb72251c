// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "hpccg.hpp"

#include <oneapi/tbb/parallel_for.h>

namespace {

struct tbb_loops {
    template <class Body> static void each(std::size_t count, Body const& body) {
        oneapi::tbb::parallel_for(std::size_t{0}, count, [&body](std::size_t k) { body(k); });
    }
};

} // namespace

tulle::bench::benchmark const registered("hpccg", "tbb", [](int argc, char** argv) {
    return tulle::bench::hpccg_main<tulle::bench::tbb_runtime, tbb_loops>(argc, argv);
});
