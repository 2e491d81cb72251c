// SPDX-License-Identifier: Apache-2.0
// create-one: create a thread that counts, join it, n times in turn. Figure: ns per thread.
#pragma once

#include "../common/harness.hpp"

#include <algorithm>

namespace tulle::bench {

template <class Library>
int create_one_main(int argc, char** argv, sizes size = {3'000'000, 100'000}) {
    settings const s = parse(argc, argv, size);
    pin_if_single(s);
    Library library(s.workers);
    figure cost{"ns"};
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        long const n = i < 0 ? std::min(s.n, 1000L) : s.n;
        long ran = 0;
        double time = 0;
        library.run([&] {
            time = time_of([&] {
                for (long k = 0; k < n; ++k) {
                    Library::invoke([&ran] { ++ran; }, [] {});
                    touch();
                }
            });
        });
        if (i >= 0) cost.add(1e9 * time / static_cast<double>(n), ran == n);
    }
    return print_all("create-one", Library::k_name, s, {cost});
}

} // namespace tulle::bench
