// SPDX-License-Identifier: Apache-2.0
//
// Conjugate gradients on a chimney of points over places: each has a slab of it. In each iteration
// neighbours push their outer planes into each other's memory, and the team of all adds up two
// numbers; both are in kernels/hpccg_places.hpp. The loops of a slab are shared by the workers of
// its place.
#include "kernels/hpccg_places.hpp"
#include "common/program.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace {

using namespace examples;

struct parallel_loops {
    template <class Body> static void each(std::size_t count, Body const& body) {
        tulle::parallel_for(std::size_t{0}, count, body);
    }
};

void print(std::vector<double> const& residuals) {
    std::printf("Initial Residual = %g\n", residuals.front());
    for (std::size_t k = 1; k < residuals.size(); ++k)
        if (k % 15 == 0 || k + 1 == residuals.size())
            std::printf("Iteration = %zu   Residual = %g\n", k, residuals[k]);
}

bool solve(kernels::hpccg_domain const& domain, int iterations) {
    if (!domain.columns_fit()) throw std::runtime_error("the domain has more than 2^31 - 1 points");
    if (domain.nz < tulle::place_count())
        throw std::runtime_error("there are fewer planes than places");
    auto const outcomes = kernels::hpccg_at_all_places<parallel_loops>(domain, iterations, 1);
    print(outcomes.front().residuals);
    double const error =
        std::max_element(outcomes.begin(), outcomes.end(), [](auto const& a, auto const& b) {
            return a.error < b.error;
        })->error;
    std::printf("Greatest error = %g\n", error);
    return std::all_of(outcomes.begin(), outcomes.end(), [&](auto const& each) {
        return each.right && each.residuals == outcomes.front().residuals;
    });
}

} // namespace

int main(int argc, char** argv) {
    command_line line{"Solves a sparse linear system, 27 points of a chimney-shaped grid whose "
                      "planes are dealt to the places, by conjugate gradients.",
                      "hpccg_places"};
    common_options options;
    kernels::hpccg_domain domain{75, 75, 64};
    int iterations = kernels::k_hpccg_iterations;
    line.number("nx", domain.nx, "points along x", 1, 1000000);
    line.number("ny", domain.ny, "points along y", 1, 1000000);
    line.number("nz", domain.nz, "points along z, the height; at least one for each place", 1,
                1000000);
    line.number("--iterations", iterations, "at most so many; fewer when the residual is 0", 1,
                100000);
    return line.run(argc, argv, [&] {
        runtime_session const session(options);
        return solve(domain, iterations) ? k_exit_ok : k_exit_check_failed;
    });
}
