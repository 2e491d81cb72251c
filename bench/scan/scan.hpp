// SPDX-License-Identifier: Apache-2.0
// scan: the sums of all beginnings of n doubles, to another array. Figure: ms.
#pragma once

#include "../common/harness.hpp"
#include "../common/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace tulle::bench {

// `scan(first, last, out)` is the whole.
template <class Scan> int scan_main(char const* library, settings const& s, Scan scan) {
    std::vector<double> const x = numbers(s.n);
    std::vector<double> expected(x.size());
    std::partial_sum(x.begin(), x.end(), expected.begin());
    std::vector<double> out(x.size());
    figure elapsed{"ms"};
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        std::fill(out.begin(), out.end(), 0.0);
        double const time = time_of([&] { scan(x.data(), x.data() + x.size(), out.data()); });
        bool right = true;
        for (std::size_t k = 0; k < out.size(); ++k)
            right = right && std::abs(out[k] - expected[k]) <= 1e-9 * expected[k];
        if (i >= 0) elapsed.add(time * 1e3, right);
    }
    return print_all("scan", library, s, {elapsed});
}

inline settings scan_settings(int argc, char** argv) {
    settings const s = parse(argc, argv, {10'000'000, 1'000'000});
    pin_if_single(s);
    return s;
}

} // namespace tulle::bench
