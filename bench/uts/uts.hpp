// SPDX-License-Identifier: Apache-2.0
// uts: walks the published tree T1 (4 130 071 nodes), a thread per inner range of children. `n` is
// the depth limit: 10 is
// T1 itself; a smaller one cuts the same tree, and is checked against the serial walk. Figure: s.
#pragma once

#include "../common/harness.hpp"
#include "../common/kernels/uts.hpp"

#include <algorithm>

namespace tulle::bench {

inline kernels::uts_tree cut_tree(int depth) {
    kernels::uts_tree tree = kernels::k_uts_t1;
    if (depth == tree.depth_limit) return tree;
    tree.depth_limit = depth;
    kernels::uts_totals const totals = kernels::uts_serial(tree);
    tree.nodes = totals.nodes;
    tree.depth = totals.depth;
    return tree;
}

template <class Library> int uts_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {10, 7});
    pin_if_single(s);
    kernels::uts_tree const tree = cut_tree(static_cast<int>(std::min(s.n, 15L)));
    Library library(s.workers);
    figure elapsed{"s"};
    for (int i = 0; i < s.runs; ++i) {
        kernels::uts_totals totals;
        double time = 0;
        library.run([&] { time = time_of([&] { totals = kernels::uts<Library>(tree); }); });
        elapsed.add(time, kernels::uts_check(tree, totals));
    }
    return print_all("uts", Library::k_name, s, {elapsed});
}

} // namespace tulle::bench
