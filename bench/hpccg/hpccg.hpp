// SPDX-License-Identifier: Apache-2.0
// hpccg: 149 iterations of conjugate gradients on the chimney of 75 x 75 x n points; n = 1024 is
// the size of the Qthreads paper. The residuals must be those of the serial program, bit by bit.
// Figure: s.
#pragma once

#include "../common/harness.hpp"
#include "../common/kernels/hpccg.hpp"
#include "../common/libraries/serial.hpp"
#include "../common/memory.hpp"

#include <algorithm>

namespace tulle::bench {

template <class Library, class Loops = kernels::fork_join_loops<Library>>
int hpccg_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {64, 4});
    pin_if_single(s);
    kernels::hpccg_domain const domain{75, 75, static_cast<int>(std::min(s.n, 100000L))};
    if (domain.bytes() > available_bytes())
        usage(argv[0], "there is not enough memory for this size");
    kernels::hpccg_problem problem(domain);
    problem.fill<kernels::fork_join_loops<serial_runtime>>();
    std::vector<double> const expected = problem.solve<kernels::fork_join_loops<serial_runtime>>();
    Library library(s.workers);
    figure elapsed{"s"};
    for (int i = 0; i < s.runs; ++i) {
        std::vector<double> residuals;
        double time = 0;
        library.run([&] { time = time_of([&] { residuals = problem.solve<Loops>(); }); });
        elapsed.add(time, residuals == expected && problem.check(residuals));
    }
    return print_all("hpccg", Library::k_name, s, {elapsed});
}

} // namespace tulle::bench
