// SPDX-License-Identifier: Apache-2.0
// hpccg-places: 149 iterations of conjugate gradients on the chimney of 75 x 75 x n points, of
// which each place has a slab: two planes are exchanged and two numbers added up in each iteration.
// One thread at each place. Figures: s, and the part of it that the first place waits for sums: in
// *_async the sum of an iteration is under way while the solution is updated.
#pragma once

#include "../common/harness.hpp"
#include "../common/kernels/hpccg_parts.hpp"
#include "../common/memory.hpp"

#include <algorithm>

namespace tulle::bench {

struct hpccg_settings : settings {
    kernels::hpccg_domain domain{};

    hpccg_settings(int argc, char** argv)
        : settings(parse(argc, argv, {64, 8})),
          domain{75, 75, static_cast<int>(std::min(n, 100000L))} {
        if (domain.bytes() > available_bytes())
            usage(argv[0], "there is not enough memory for this size");
        if (domain.nz < places) usage(argv[0], "there are fewer planes than places");
    }
};

// The outcome of the first place has the times, and all must be right.
inline int print_hpccg(hpccg_settings const& s, char const* library,
                       kernels::hpccg_outcome const& first, bool right) {
    figure elapsed{"s"};
    figure in_sums{"% of the time in reductions"};
    for (std::size_t k = 0; k < first.seconds.size(); ++k) {
        elapsed.add(first.seconds[k], right);
        in_sums.add(100 * first.in_sums[k] / first.seconds[k], right);
    }
    return print_all("hpccg-places", library, s, {elapsed, in_sums});
}

} // namespace tulle::bench
