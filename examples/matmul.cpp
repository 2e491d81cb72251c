// SPDX-License-Identifier: Apache-2.0
//
// Cache-oblivious matrix multiply: halves the longest side until the blocks fit any cache.
#include "kernels/matmul.hpp"
#include "common/contest.hpp"
#include "common/policies.hpp"

namespace {

using namespace examples;

bool multiply(int n, int leaf, common_options const& options) {
    kernels::matmul_problem problem(n);
    contest const event{"matmul", std::to_string(n) + " x " + std::to_string(n) + " doubles",
                        [&problem] { problem.clear(); },
                        [&problem] { return kernels::matmul_check(problem); },
                        contestants_for([&problem, leaf]<class Policy>() {
                            kernels::matmul<Policy>(problem.whole(), leaf);
                        })};
    return hold_contest(event, options);
}

} // namespace

int main(int argc, char** argv) {
    command_line line{
        "Multiplies two square matrices by divide and conquer; checked by Freivalds' method.",
        "matmul"};
    common_options options;
    int n = 1000;
    int leaf = kernels::k_matmul_leaf;
    line.number("n", n, "rows and columns", 1, 20000);
    line.number("--leaf", leaf, "longest side of a block that is not halved again", 16, 4096);
    add_contest_options(line, options);
    return line.run(argc, argv, [&] {
        runtime_session const session(options);
        return multiply(n, leaf, options) ? k_exit_ok : k_exit_check_failed;
    });
}
