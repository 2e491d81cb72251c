// SPDX-License-Identifier: Apache-2.0
#include "reduce.hpp"

namespace {

double sum(double const* first, double const* last) { return std::accumulate(first, last, 0.0); }

} // namespace

tulle::bench::benchmark const registered("reduce", "serial", [](int argc, char** argv) {
    using namespace tulle::bench;
    return reduce_main("serial", reduce_settings(argc, argv), sum);
});
