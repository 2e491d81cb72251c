// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "reduce.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

namespace {

double sum(double const* first, double const* last) {
    using range = oneapi::tbb::blocked_range<double const*>;
    auto const add = [](range const& part, double before) {
        return std::accumulate(part.begin(), part.end(), before);
    };
    return oneapi::tbb::parallel_reduce(range(first, last), 0.0, add, std::plus<>{});
}

} // namespace

tulle::bench::benchmark const registered("reduce", "tbb", [](int argc, char** argv) {
    using namespace tulle::bench;
    settings const s = reduce_settings(argc, argv);
    tbb_runtime library(s.workers);
    int result = 0;
    library.run([&] { result = reduce_main("tbb", s, sum); });
    return result;
});
