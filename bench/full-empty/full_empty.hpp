// SPDX-License-Identifier: Apache-2.0
// full-empty: one thread writes into an empty cell and takes the value out again, n times; then it
// reads a full cell n times.
// Figures: ns per pair, ns per reading.
#pragma once

#include "../common/harness.hpp"

namespace tulle::bench {

template <class Library, class Cell> int full_empty_main(int argc, char** argv, char const* name) {
    settings const s = parse(argc, argv, {20'000'000, 500'000});
    pin_if_single(s);
    Library library(s.workers);
    figure pair{"ns"}, reading{"ns/read"};
    for (int i = 0; i < s.runs; ++i) {
        long taken = 0, read = 0;
        double pairs = 0, readings = 0;
        library.run([&] {
            Cell cell;
            pairs = time_of([&] {
                for (long k = 0; k < s.n; ++k) {
                    cell.write_ef(k);
                    taken += cell.read_fe();
                }
            });
            cell.write_ef(3);
            readings = time_of([&] {
                for (long k = 0; k < s.n; ++k) read += cell.read_ff();
            });
            static_cast<void>(cell.read_fe());
        });
        pair.add(1e9 * pairs / static_cast<double>(s.n), taken == s.n * (s.n - 1) / 2);
        reading.add(1e9 * readings / static_cast<double>(s.n), read == 3 * s.n);
    }
    return print_all("full-empty", name, s, {pair, reading});
}

} // namespace tulle::bench
