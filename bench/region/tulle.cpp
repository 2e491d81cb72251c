// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "region.hpp"

#include <tulle/parallel_for.hpp>

namespace tulle::bench {

benchmark const registered("region", "tulle", [](int argc, char** argv) {
    settings const s = region_settings(argc, argv);
    tulle_runtime library(s.workers);
    int result = 0;
    library.run([&] {
        result = region_main("tulle", s,
                             [](int count, auto body) { tulle::parallel_for(0, count, body); });
    });
    return result;
});

} // namespace tulle::bench
