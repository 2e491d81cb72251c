// SPDX-License-Identifier: Apache-2.0
// matmul: cache-oblivious product of two n x n matrices of doubles, leaves of 32. Figure: s.
#pragma once

#include "../common/harness.hpp"
#include "../common/kernels/matmul.hpp"

#include <algorithm>

namespace tulle::bench {

template <class Library> int matmul_main(int argc, char** argv) {
    constexpr int k_leaf = 32;
    settings const s = parse(argc, argv, {1000, 256});
    pin_if_single(s);
    Library library(s.workers);
    kernels::matmul_problem problem(static_cast<int>(std::min(s.n, 20000L)));
    figure elapsed{"s"};
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        problem.clear();
        double time = 0;
        library.run(
            [&] { time = time_of([&] { kernels::matmul<Library>(problem.whole(), k_leaf); }); });
        if (i >= 0) elapsed.add(time, kernels::matmul_check(problem));
    }
    return print_all("matmul", Library::k_name, s, {elapsed});
}

} // namespace tulle::bench
