// SPDX-License-Identifier: Apache-2.0
//
// Conjugate gradients on a chimney of points, the HPCCG miniapp: many short loops over long
// vectors, one after the other.
#include "kernels/hpccg.hpp"
#include "common/contest.hpp"
#include "common/policies.hpp"
#include "common/progress.hpp"
#include "memory.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#if defined(TULLE_HAVE_TBB)
#include <tbb/parallel_for.h>
#endif

namespace {

using namespace examples;
using kernels::hpccg_domain;
using kernels::hpccg_problem;

// What one writes with the peers: their parallel loops. Everybody else halves ranges
// (kernels::fork_join_loops).
template <class Policy> struct loops_of : kernels::fork_join_loops<Policy> {};
#if defined(TULLE_HAVE_TBB)
template <> struct loops_of<tbb_policy> {
    template <class Body> static void each(std::size_t count, Body const& body) {
        tbb::parallel_for(std::size_t{0}, count, [&body](std::size_t k) { body(k); });
    }
};
#endif
#if defined(_OPENMP)
struct omp_loops {
    template <class Body> static void each(std::size_t count, Body const& body) {
#pragma omp parallel for schedule(static) num_threads(tulle::worker_count())
        for (std::size_t k = 0; k < count; ++k) body(k);
    }
};
#endif

void require_memory(hpccg_domain const& d) {
    constexpr double k_gib = 1024.0 * 1024 * 1024;
    double const available = tulle::bench::available_bytes();
    if (!d.columns_fit()) throw std::runtime_error("the domain has more than 2^31 - 1 points");
    if (d.bytes() <= available) return;
    char text[128];
    static_cast<void>(std::snprintf(text, sizeof text,
                                    "the domain needs %.1f GiB of memory, %.1f GiB are available",
                                    d.bytes() / k_gib, available / k_gib));
    throw std::runtime_error(text);
}

hpccg_problem make_problem(hpccg_domain const& d, common_options const& options) {
    require_memory(d);
    progress shown(options.progress);
    shown.begin("hpccg: making the matrix");
    hpccg_problem problem(d);
    tulle::spawn([&problem] { problem.fill<loops_of<tulle_policy>>(); }).join();
    return problem;
}

// As the miniapp does it: every tenth part, or each of few; and the last.
void print_residuals(std::vector<double> const& residuals, int iterations) {
    int const step = std::clamp((iterations + 1) / 10, 1, 50);
    int const last = static_cast<int>(residuals.size()) - 1;
    std::printf("Initial Residual = %g\n", residuals.front());
    for (int k = 1; k <= last; ++k)
        if (k % step == 0 || k == last)
            std::printf("Iteration = %d   Residual = %g\n", k,
                        residuals[static_cast<std::size_t>(k)]);
}

bool solve(hpccg_domain const& d, int iterations, common_options const& options) {
    hpccg_problem problem = make_problem(d, options);
    std::vector<double> expected; // the first solution's
    std::vector<double> residuals;
    contest event{"hpccg",
                  std::to_string(d.nx) + " x " + std::to_string(d.ny) + " x " +
                      std::to_string(d.nz) + " points",
                  [&residuals] { residuals.clear(); },
                  [&] {
                      if (expected.empty()) expected = residuals;
                      return residuals == expected && problem.check(residuals);
                  },
                  contestants_for([&problem, &residuals, iterations]<class Policy>() {
                      residuals = problem.solve<loops_of<Policy>>(iterations);
                  })};
#if defined(_OPENMP)
    event.contestants.push_back({"OpenMP parallel for", role::peer,
                                 [&] { residuals = problem.solve<omp_loops>(iterations); }});
#endif
    bool const ok = hold_contest(event, options);
    if (!options.tsv) print_residuals(expected, iterations);
    if (!options.tsv) std::printf("Greatest error = %g\n", problem.error());
    return ok;
}

} // namespace

int main(int argc, char** argv) {
    command_line line{"Solves a sparse linear system, 27 points of a chimney-shaped grid, by "
                      "conjugate gradients.",
                      "hpccg"};
    common_options options;
    hpccg_domain d{75, 75, 64};
    int iterations = kernels::k_hpccg_iterations;
    line.number("nx", d.nx, "points along x", 1, 1000000);
    line.number("ny", d.ny, "points along y", 1, 1000000);
    line.number("nz", d.nz, "points along z, the height", 1, 1000000);
    line.number("--iterations", iterations, "at most so many; fewer when the residual is 0", 1,
                100000);
    add_contest_options(line, options);
    return line.run(argc, argv, [&] {
        runtime_session const session(options);
        return solve(d, iterations, options) ? k_exit_ok : k_exit_check_failed;
    });
}
