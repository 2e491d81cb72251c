// SPDX-License-Identifier: Apache-2.0
// Parallel loops instead of tasks: what one writes with OpenMP for this.
#include "../common/libraries/omp.hpp"
#include "hpccg.hpp"

namespace {

struct omp_loops : tulle::bench::omp_runtime {
    using omp_runtime::omp_runtime;

    template <class F> void run(F&& f) { f(); } // each loop is a parallel region of its own

    template <class Body> static void each(std::size_t count, Body const& body) {
#pragma omp parallel for schedule(static)
        for (std::size_t k = 0; k < count; ++k) body(k);
    }
};

} // namespace

tulle::bench::benchmark const
    registered("hpccg", tulle::bench::omp_runtime::k_name, [](int argc, char** argv) {
        return tulle::bench::hpccg_main<omp_loops, omp_loops>(argc, argv);
    });
