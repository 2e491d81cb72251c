// SPDX-License-Identifier: Apache-2.0
//
// Counts the nodes of an Unbalanced Tree Search tree over all places, without saying where anything
// is done: `tulle run -n 4 count_tree`. Once by forks and joins, once by activities of a finish;
// places without work take some of the others'.
#include "common/places.hpp"
#include "common/program.hpp"
#include "kernels/uts.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

namespace {

using namespace examples;
using kernels::uts_node;
using kernels::uts_totals;

// What is sent has no addresses, so this stands for the tree.
struct choice {
    int depth_limit; // of T1; 0: T3
    [[nodiscard]] kernels::uts_tree tree() const {
        auto chosen = depth_limit == 0 ? kernels::k_uts_t3 : kernels::k_uts_t1;
        if (depth_limit != 0) chosen.depth_limit = depth_limit;
        return chosen;
    }
};

// --- by forks ------------------------------------------------------------------------------------

uts_totals visit(choice of, uts_node node);

// Children with index in [low, high).
uts_totals visit_children(choice of, uts_node parent, int low, int high) {
    if (high - low == 1) return visit(of, parent.child(low));
    int const middle = low + (high - low) / 2;
    auto upper = tulle::global_fork<&visit_children>(of, parent, middle, high);
    uts_totals const lower = visit_children(of, parent, low, middle);
    return lower + upper.join();
}

uts_totals visit(choice of, uts_node node) {
    int const children = node.children(of.tree());
    if (children == 0) return {1, 1, node.depth()};
    return uts_totals{1, 0, node.depth()} + visit_children(of, node, 0, children);
}

// --- by activities -------------------------------------------------------------------------------

using counter = tulle::place_local<std::atomic<std::uint64_t>>;

// Counts the children of `node`, and starts an activity for each that has some. relaxed: the end of
// the finish orders it.
void explore(choice of, uts_node node, counter nodes) {
    auto const tree = of.tree();
    int const children = node.children(tree);
    nodes->fetch_add(static_cast<std::uint64_t>(children), std::memory_order_relaxed);
    for (int k = 0; k < children; ++k) {
        uts_node const child = node.child(k);
        if (child.children(tree) != 0)
            tulle::this_activity::async_any(
                [](choice c, uts_node n, counter own) { explore(c, n, own); }, of, child, nodes);
    }
}

std::uint64_t count_by_activities(choice of) {
    auto const nodes = counter::make([] { return std::uint64_t{0}; });
    tulle::finish([&] { explore(of, uts_node::root(of.tree()), nodes); });
    std::uint64_t sum = 1;
    for (std::uint64_t const part :
         gather([](counter own) { return own->load(std::memory_order_relaxed); }, nodes))
        sum += part;
    nodes.destroy();
    return sum;
}

bool count(choice of) {
    auto const expected = of.depth_limit == 0 || of.depth_limit == kernels::k_uts_t1.depth_limit
                              ? of.tree().nodes
                              : kernels::uts_serial(of.tree()).nodes;
    auto const by_forks = visit(of, uts_node::root(of.tree())).nodes;
    auto const by_activities = count_by_activities(of);
    std::printf("%llu nodes by forks, %llu by activities\n",
                static_cast<unsigned long long>(by_forks),
                static_cast<unsigned long long>(by_activities));
    return by_forks == expected && by_activities == expected;
}

} // namespace

int main(int argc, char** argv) {
    // T3 is more than a thousand levels deep.
    constexpr std::size_t k_stack_size = std::size_t{4} << 20U;
    command_line line{"Counts the nodes of a tree of the Unbalanced Tree Search, at whatever "
                      "places have time for it.",
                      "count_tree"};
    std::string tree = "T1";
    int depth = kernels::k_uts_t1.depth_limit;
    line.one_of({"T1", "T3"}, "tree", tree, "T1 (geometric) or T3 (binomial)");
    line.number("--depth", depth, "T1 is cut below it", 1, 15);
    return line.run(argc, argv, [&] {
        runtime_session const session(common_options{}, k_stack_size);
        return count({tree == "T1" ? depth : 0}) ? k_exit_ok : k_exit_check_failed;
    });
}
