// SPDX-License-Identifier: Apache-2.0
//
// Unbalanced Tree Search: walks trees whose shape nobody can foresee, a thread for each node.
#include "kernels/uts.hpp"
#include "common/contest.hpp"
#include "common/policies.hpp"

namespace {

using namespace examples;

// The binomial trees are more than a thousand levels deep.
constexpr std::size_t k_stack_size = std::size_t{4} << 20U;

bool walk(kernels::uts_tree const& tree, common_options const& options) {
    kernels::uts_totals totals;
    contest event{
        "uts",
        std::string(tree.name) + ", " + std::to_string(tree.nodes) + " nodes, depth " +
            std::to_string(tree.depth),
        [&totals] { totals = {}; }, [&totals, &tree] { return kernels::uts_check(tree, totals); },
        contestants_for([&totals, &tree]<class Policy>() { totals = kernels::uts<Policy>(tree); },
                        true)};
    event.contestants[1].run = [&totals, &tree] { totals = kernels::uts_serial(tree); };
    return hold_contest(event, options);
}

} // namespace

int main(int argc, char** argv) {
    request_large_openmp_stacks(argv);
    command_line line{"Counts the nodes of the Unbalanced Tree Search trees and compares with the "
                      "published counts.",
                      "uts"};
    common_options options;
    std::string tree = "T1";
    line.one_of({"T1", "T3"}, "tree", tree, "T1 (geometric) or T3 (binomial)");
    add_contest_options(line, options);
    return line.run(argc, argv, [&] {
        runtime_session const session(options, k_stack_size);
        return walk(tree == "T1" ? kernels::k_uts_t1 : kernels::k_uts_t3, options)
                   ? k_exit_ok
                   : k_exit_check_failed;
    });
}
