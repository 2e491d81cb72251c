// SPDX-License-Identifier: Apache-2.0
//
// Naive Fibonacci with one thread per call: nothing but spawns and joins.
#include "common/contest.hpp"
#include "common/policies.hpp"
#include "kernels/fib.hpp"

#include <atomic>

namespace {

using namespace examples;

// relaxed in both: keeps the compiler from computing the result ahead of time; one thread stores,
// then reads it
std::atomic<int> input{0};
std::atomic<long> result{0};

bool compute(int n, common_options const& options) {
    input.store(n, std::memory_order_relaxed);
    contest event{
        "fibonacci",
        "fib(" + std::to_string(n) + "), " + std::to_string(kernels::fib_spawns(n)) + " spawns",
        [] { result.store(-1, std::memory_order_relaxed); },
        [n] { return result.load(std::memory_order_relaxed) == kernels::fib_expected(n); },
        contestants_for([]<class Policy>() {
            result.store(kernels::fib<Policy>(input.load(std::memory_order_relaxed)),
                         std::memory_order_relaxed);
        })};
    event.contestants[1].run = [] {
        result.store(kernels::fib_serial(input.load(std::memory_order_relaxed)),
                     std::memory_order_relaxed);
    };
    return hold_contest(event, options);
}

} // namespace

int main(int argc, char** argv) {
    command_line line{"Computes a Fibonacci number the slow way, with a thread for each call.",
                      "fibonacci"};
    common_options options;
    int n = 35;
    line.number("n", n, "which Fibonacci number", 0, 60);
    add_contest_options(line, options);
    return line.run(argc, argv, [&] {
        runtime_session const session(options);
        return compute(n, options) ? k_exit_ok : k_exit_check_failed;
    });
}
