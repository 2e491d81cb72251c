// SPDX-License-Identifier: Apache-2.0
// OpenMP tasks, as the workloads see them (names: serial.hpp). The same source serves both
// compilers' run-time libraries: gcc's (libgomp) is `omp`, clang's (libomp) is `omp_clang`. Tasks
// cannot block.
#pragma once

#include "fork_join.hpp"

#include <utility>

#include <omp.h>

namespace tulle::bench {

struct omp_runtime : fork_join<omp_runtime> {
#ifdef __clang__
    static constexpr char const* k_name = "omp_clang";
#else
    static constexpr char const* k_name = "omp";
#endif

    explicit omp_runtime(int workers) { omp_set_num_threads(workers); }

    template <class F> void run(F&& f) {
#pragma omp parallel
#pragma omp single
        f();
    }

    template <class F, class G> static auto both(F f, G g) {
        decltype(f()) a{};
#pragma omp task shared(a) firstprivate(f)
        a = f();
        auto b = g();
#pragma omp taskwait
        return std::pair{a, b};
    }

    template <class F, class G> static void both_void(F f, G g) {
#pragma omp task firstprivate(f)
        f();
        g();
#pragma omp taskwait
    }

    class group {
    public:
        template <class F> void spawn(F f) {
#pragma omp task firstprivate(f)
            f();
        }
        void wait() {
#pragma omp taskwait
        }
    };
};

} // namespace tulle::bench
