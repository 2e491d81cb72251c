// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tbb.hpp"
#include "region.hpp"

#include <oneapi/tbb/parallel_for.h>

namespace tulle::bench {

benchmark const registered("region", "tbb", [](int argc, char** argv) {
    settings const s = region_settings(argc, argv);
    tbb_runtime library(s.workers);
    int result = 0;
    library.run([&] {
        result = region_main(
            "tbb", s, [](int count, auto body) { oneapi::tbb::parallel_for(0, count, body); });
    });
    return result;
});

} // namespace tulle::bench
