// SPDX-License-Identifier: Apache-2.0
// axpy: y = y + a x over n doubles, more than any cache holds. Figure: ms.
#pragma once

#include "../common/harness.hpp"
#include "../common/numbers.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tulle::bench {

// `loop(n, a, x, y)` is the whole.
template <class Loop> int axpy_main(char const* library, settings const& s, Loop loop) {
    std::vector<double> const x = numbers(s.n);
    std::vector<double> y(x.size());
    figure elapsed{"ms"};
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        std::fill(y.begin(), y.end(), 1.0);
        double const time = time_of([&] { loop(s.n, 2.0, x.data(), y.data()); });
        bool right = true;
        for (std::size_t k = 0; k < y.size(); k += 997) right = right && y[k] == 1.0 + 2.0 * x[k];
        if (i >= 0) elapsed.add(time * 1e3, right && y.back() == 1.0 + 2.0 * x.back());
    }
    return print_all("axpy", library, s, {elapsed});
}

inline settings axpy_settings(int argc, char** argv) {
    settings const s = parse(argc, argv, {10'000'000, 1'000'000});
    pin_if_single(s);
    return s;
}

} // namespace tulle::bench
