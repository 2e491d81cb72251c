// SPDX-License-Identifier: Apache-2.0
// sort: n random doubles, each library with its own sort. Figure: s.
#pragma once

#include "../common/harness.hpp"
#include "../common/kernels/quicksort.hpp"

#include <vector>

namespace tulle::bench {

// `sort(first, last)` is the whole.
template <class Sort> int sort_main(char const* library, settings const& s, Sort sort) {
    std::vector<double> input(static_cast<std::size_t>(s.n));
    kernels::quicksort_fill(input.data(), input.size(), 1);
    auto const fingerprint = kernels::quicksort_fingerprint(input.data(), input.size());
    std::vector<double> data;
    figure elapsed{"s"};
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        data = input;
        double const time = time_of([&] { sort(data.data(), data.data() + data.size()); });
        if (i >= 0)
            elapsed.add(time, kernels::quicksort_check(data.data(), data.size(), fingerprint));
    }
    return print_all("sort", library, s, {elapsed});
}

inline settings sort_settings(int argc, char** argv) {
    settings const s = parse(argc, argv, {2'000'000, 200'000});
    pin_if_single(s);
    return s;
}

} // namespace tulle::bench
