// SPDX-License-Identifier: Apache-2.0
// quicksort: n random doubles, ranges up to 1000 elements sorted without forking. Figure: s.
#pragma once

#include "../common/harness.hpp"
#include "../common/kernels/quicksort.hpp"

namespace tulle::bench {

template <class Library> int quicksort_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {2'000'000, 200'000});
    pin_if_single(s);
    Library library(s.workers);
    std::vector<double> input(static_cast<std::size_t>(s.n));
    kernels::quicksort_fill(input.data(), input.size(), 1);
    auto const fingerprint = kernels::quicksort_fingerprint(input.data(), input.size());
    std::vector<double> data;
    figure elapsed{"s"};
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        data = input;
        double time = 0;
        library.run([&] {
            time = time_of(
                [&] { kernels::quicksort<Library>(data.data(), data.data() + data.size()); });
        });
        if (i >= 0)
            elapsed.add(time, kernels::quicksort_check(data.data(), data.size(), fingerprint));
    }
    return print_all("quicksort", Library::k_name, s, {elapsed});
}

} // namespace tulle::bench
