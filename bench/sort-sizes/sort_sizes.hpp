// SPDX-License-Identifier: Apache-2.0
// sort-sizes: 10^6, 10^7 and 10^8 random doubles (--quick: 10^5 and 10^6), each library with its own sort. Figures: s.
// Source: Wheeler, Murphy, Thain, Qthreads (IPDPS 2008), section 5.1, figure 3: a parallel quicksort beside qsort() of the C library.
#pragma once

#include "../common/harness.hpp"
#include "../common/kernels/quicksort.hpp"

#include <string>
#include <vector>

namespace tulle::bench {

// `sort(first, last)` is the whole.
template <class Sort> figure sort_one_size(settings const& s, int exponent, std::size_t n, Sort sort) {
    std::vector<double> input(n);
    kernels::quicksort_fill(input.data(), n, 1);
    auto const fingerprint = kernels::quicksort_fingerprint(input.data(), n);
    std::vector<double> data;
    figure elapsed{"s for 10^" + std::to_string(exponent)};
    for (int i = 0; i < s.runs; ++i) {
        data = input;
        double const time = time_of([&] { sort(data.data(), data.data() + n); });
        elapsed.add(time, kernels::quicksort_check(data.data(), n, fingerprint));
    }
    return elapsed;
}

template <class Sort> int sort_sizes_main(char const* library, settings const& s, Sort sort) {
    std::vector<figure> figures;
    int const last = s.quick ? 6 : 8;
    std::size_t n = 100'000;
    for (int exponent = 5; exponent <= last; ++exponent, n *= 10)
        if (s.quick || exponent > 5) figures.push_back(sort_one_size(s, exponent, n, sort));
    return print_all("sort-sizes", library, s, figures);
}

inline settings sort_sizes_settings(int argc, char** argv) { return parse(argc, argv, {100'000'000, 1'000'000}); }

} // namespace tulle::bench
