// SPDX-License-Identifier: Apache-2.0
// sort-sizes: 10^6 random doubles, and ten times as many up to n = 10^8 (--quick: 10^5 and 10^6),
// each library with its own sort; --n 1000000000 is the paper's size, for which there must be 8 GB,
// and 16 for qsort(). Figures: s.
// Source: Wheeler, Murphy, Thain, Qthreads (IPDPS 2008), section 5.1, figure 3: a parallel
// quicksort beside qsort() of the C library.
#pragma once

#include "../common/harness.hpp"
#include "../common/kernels/quicksort.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace tulle::bench {

// `sort(first, last)` is the whole.
template <class Sort>
figure sort_one_size(settings const& s, int exponent, std::size_t n, Sort sort) {
    std::vector<double> data(n);
    figure elapsed{"s for 10^" + std::to_string(exponent), {"", "doubles", static_cast<double>(n)}};
    for (int i = 0; i < s.runs; ++i) {
        kernels::quicksort_fill(data.data(), n, 1);
        auto const fingerprint = kernels::quicksort_fingerprint(data.data(), n);
        double const time = time_of([&] { sort(data.data(), data.data() + n); });
        elapsed.add(time, kernels::quicksort_check(data.data(), n, fingerprint));
    }
    return elapsed;
}

template <class Sort> int sort_sizes_main(char const* library, settings const& s, Sort sort) {
    std::vector<figure> figures;
    int exponent = s.quick ? 5 : 6;
    std::size_t const smallest = s.quick ? 100'000 : 1'000'000;
    std::size_t const most = std::max(static_cast<std::size_t>(s.n), smallest);
    for (std::size_t n = smallest; n <= most; n *= 10)
        figures.push_back(sort_one_size(s, exponent++, n, sort));
    return print_all("sort-sizes", library, s, figures);
}

inline settings sort_sizes_settings(int argc, char** argv) {
    return parse(argc, argv, {100'000'000, 1'000'000});
}

} // namespace tulle::bench
