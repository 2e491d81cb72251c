// SPDX-License-Identifier: Apache-2.0
//
// Unbalanced Tree Search: counts the nodes of a tree that nobody knows before walking it. A node is
// the state of a splittable random stream; its number of children is drawn from that state, and
// child i has the state SHA-1(state of the parent, i). The trees and their node counts are
// published, so a walk proves itself.
// Source: Olivier et al., "UTS: An Unbalanced Tree Search Benchmark", LCPC 2006,
// doi:10.1007/978-3-540-72521-3_18.
// The policy is described in fib.hpp. Deviation: the children of a node are forked by halving their
// range, so that a policy with two branches is enough; T3 therefore nests about 4 * 1572 calls:
// give it 4 MiB of stack.
#pragma once

#include "sha1.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kernels {

enum class uts_shape { geometric, binomial };

struct uts_tree {
    char const* name;
    uts_shape shape;
    std::uint32_t seed;
    // expected (geometric) or exact (binomial) number of children of the root
    double root_branching;
    int depth_limit; // geometric: nodes at this depth are leaves
    // binomial: an inner node has branch_children children with this probability, else none
    double branch_probability;
    int branch_children;
    std::uint64_t nodes; // what is published
    int depth;
};

inline constexpr uts_tree k_uts_t1{"T1", uts_shape::geometric, 19, 4.0, 10, 0.0, 0, 4130071, 10};
inline constexpr uts_tree k_uts_t3{"T3", uts_shape::binomial, 42, 2000.0, 0, 0.124875, 8, 4112897,
                                   1572};

struct uts_totals {
    std::uint64_t nodes = 0;
    std::uint64_t leaves = 0;
    int depth = 0;

    friend uts_totals operator+(uts_totals const& a, uts_totals const& b) {
        return {a.nodes + b.nodes, a.leaves + b.leaves, std::max(a.depth, b.depth)};
    }
};

class uts_node {
public:
    static uts_node root(uts_tree const& tree) { return {sha1<5>({0, 0, 0, 0, tree.seed}), 0}; }

    [[nodiscard]] uts_node child(int index) const {
        auto const& s = m_state;
        return {sha1<6>({s[0], s[1], s[2], s[3], s[4], static_cast<std::uint32_t>(index)}),
                m_depth + 1};
    }

    [[nodiscard]] int children(uts_tree const& tree) const {
        return tree.shape == uts_shape::geometric ? geometric(tree) : binomial(tree);
    }

    [[nodiscard]] int depth() const { return m_depth; }

private:
    static constexpr int k_most_children = 100; // of any node but a binomial root

    uts_node(sha1_digest const& state, int depth) : m_state(state), m_depth(depth) {}

    // Uniform in [0, 1): the low 31 bits of the state.
    [[nodiscard]] double uniform() const {
        return static_cast<double>(m_state[4] & 0x7fffffffU) / 2147483648.0;
    }

    [[nodiscard]] int geometric(uts_tree const& tree) const {
        if (m_depth >= tree.depth_limit) return 0;
        double const p = 1.0 / (1.0 + tree.root_branching);
        double const drawn = std::floor(std::log(1.0 - uniform()) / std::log(1.0 - p));
        return std::min(static_cast<int>(drawn), k_most_children);
    }

    [[nodiscard]] int binomial(uts_tree const& tree) const {
        if (m_depth == 0) return static_cast<int>(tree.root_branching);
        return uniform() < tree.branch_probability ? tree.branch_children : 0;
    }

    sha1_digest m_state;
    int m_depth;
};

template <class ForkJoin> uts_totals uts_visit(uts_tree const& tree, uts_node const& node);

// Visits the children of parent with index in [low, high).
template <class ForkJoin>
uts_totals uts_children(uts_tree const& tree, uts_node const& parent, int low, int high) {
    if (high - low == 1) return uts_visit<ForkJoin>(tree, parent.child(low));
    int const middle = low + (high - low) / 2;
    auto const [a, b] = ForkJoin::invoke(
        [&tree, &parent, low, middle] { return uts_children<ForkJoin>(tree, parent, low, middle); },
        [&tree, &parent, middle, high] {
            return uts_children<ForkJoin>(tree, parent, middle, high);
        });
    return a + b;
}

template <class ForkJoin> uts_totals uts_visit(uts_tree const& tree, uts_node const& node) {
    int const children = node.children(tree);
    if (children == 0) return {1, 1, node.depth()};
    return uts_totals{1, 0, node.depth()} + uts_children<ForkJoin>(tree, node, 0, children);
}

template <class ForkJoin> uts_totals uts(uts_tree const& tree) {
    return uts_visit<ForkJoin>(tree, uts_node::root(tree));
}

inline uts_totals uts_serial_visit(uts_tree const& tree, uts_node const& node) {
    int const children = node.children(tree);
    uts_totals totals{1, children == 0 ? 1U : 0U, node.depth()};
    for (int i = 0; i < children; ++i) totals = totals + uts_serial_visit(tree, node.child(i));
    return totals;
}

inline uts_totals uts_serial(uts_tree const& tree) {
    return uts_serial_visit(tree, uts_node::root(tree));
}

inline bool uts_check(uts_tree const& tree, uts_totals const& totals) {
    return totals.nodes == tree.nodes && totals.depth == tree.depth;
}

} // namespace kernels
