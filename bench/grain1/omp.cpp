// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/omp.hpp"
#include "grain1.hpp"

namespace tulle::bench {

benchmark const registered("grain1", omp_runtime::k_name, [](int argc, char** argv) {
    settings const s = grain1_settings(argc, argv);
    omp_runtime const library(s.workers);
    return grain1_main(omp_runtime::k_name, s, [](long n, auto body) {
#pragma omp parallel for schedule(dynamic, 1)
        for (long i = 0; i < n; ++i) body(i);
    });
});

} // namespace tulle::bench
