// SPDX-License-Identifier: Apache-2.0
// reduce: the sum of n doubles. Figure: ms.
#pragma once

#include "../common/harness.hpp"
#include "../common/numbers.hpp"

#include <cmath>
#include <numeric>
#include <vector>

namespace tulle::bench {

// `sum(first, last)` is the whole.
template <class Sum> int reduce_main(char const* library, settings const& s, Sum sum) {
    std::vector<double> const x = numbers(s.n);
    double const expected = std::accumulate(x.begin(), x.end(), 0.0);
    figure elapsed{"ms"};
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        double result = 0;
        double const time = time_of([&] { result = sum(x.data(), x.data() + x.size()); });
        if (i >= 0) elapsed.add(time * 1e3, std::abs(result - expected) < 1e-9 * expected);
    }
    return print_all("reduce", library, s, {elapsed});
}

inline settings reduce_settings(int argc, char** argv) {
    settings const s = parse(argc, argv, {10'000'000, 1'000'000});
    pin_if_single(s);
    return s;
}

} // namespace tulle::bench
