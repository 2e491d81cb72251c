// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/omp.hpp"
#include "region.hpp"

namespace tulle::bench {

benchmark const registered("region", omp_runtime::k_name, [](int argc, char** argv) {
    settings const s = region_settings(argc, argv);
    omp_runtime const library(s.workers);
    return region_main(omp_runtime::k_name, s, [](int count, auto body) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < count; ++i) body(i);
    });
});

} // namespace tulle::bench
