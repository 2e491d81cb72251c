// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "grain1.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>

namespace tulle::bench {

benchmark const registered("grain1", "tbb", [](int argc, char** argv) {
    settings const s = grain1_settings(argc, argv);
    tbb_runtime library(s.workers);
    int result = 0;
    auto const loop = [](long n, auto body) {
        auto const all = [&body](oneapi::tbb::blocked_range<long> const& part) {
            for (long i = part.begin(); i != part.end(); ++i) body(i);
        };
        oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<long>(0, n, 1), all,
                                  oneapi::tbb::simple_partitioner());
    };
    library.run([&] { result = grain1_main("tbb", s, loop); });
    return result;
});

} // namespace tulle::bench
