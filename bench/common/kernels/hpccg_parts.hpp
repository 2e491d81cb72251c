// SPDX-License-Identifier: Apache-2.0
//
// hpccg by several processes, each with a slab of the chimney. All call hpccg_by_parts at the same
// time; Others (hpccg.hpp) also has rank() and size().
#pragma once

#include "hpccg.hpp"

#include <algorithm>
#include <chrono>

namespace kernels {

// The planes of the chimney, dealt in the order of ranks; no slab is thicker than another by more
// than one. There are as many planes as ranks.
inline hpccg_slab hpccg_slab_of(hpccg_domain const& whole, int rank, int size) {
    auto const begin = [&](int r) { return whole.nz / size * r + std::min(r, whole.nz % size); };
    return {whole, begin(rank), begin(rank + 1)};
}

struct hpccg_outcome {
    std::vector<double> residuals{};
    std::vector<double> seconds{}; // of each solution
    double error = 0;              // of this slab
    bool right = true;             // of this slab

    template <class Archive> void serialize(Archive& archive) {
        archive(residuals, seconds, error, right);
    }
};

template <class Loops, class Others>
hpccg_outcome hpccg_by_parts(hpccg_domain const& whole, int iterations, int solutions,
                             Others const& others) {
    using clock = std::chrono::steady_clock;
    hpccg_problem problem(hpccg_slab_of(whole, others.rank(), others.size()));
    problem.fill<Loops>();
    hpccg_outcome out;
    for (int k = 0; k < solutions; ++k) {
        static_cast<void>(others.sum(0)); // everybody is here
        clock::time_point const start = clock::now();
        out.residuals = problem.solve<Loops>(iterations, others);
        out.seconds.push_back(std::chrono::duration<double>(clock::now() - start).count());
        out.right = problem.check(out.residuals, others) && out.right;
    }
    out.error = problem.error();
    return out;
}

} // namespace kernels
