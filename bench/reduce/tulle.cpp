// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "reduce.hpp"

#include <tulle/parallel_reduce.hpp>

namespace {

double sum(double const* first, double const* last) { return tulle::parallel_sum(first, last); }

} // namespace

tulle::bench::benchmark const registered("reduce", "tulle", [](int argc, char** argv) {
    using namespace tulle::bench;
    settings const s = reduce_settings(argc, argv);
    tulle_runtime library(s.workers);
    int result = 0;
    library.run([&] { result = reduce_main("tulle", s, sum); });
    return result;
});
