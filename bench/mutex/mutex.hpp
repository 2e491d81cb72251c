// SPDX-License-Identifier: Apache-2.0
// mutex: one thread locks and unlocks a mutex that nobody else wants, n times. Figure: ns per pair.
#pragma once

#include "../common/harness.hpp"

namespace tulle::bench {

template <class Library> int mutex_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {20'000'000, 500'000});
    pin_if_single(s);
    Library library(s.workers);
    figure cost{"ns"};
    for (int i = 0; i < s.runs; ++i) {
        long counter = 0;
        double time = 0;
        library.run([&] {
            typename Library::mutex mutex;
            time = time_of([&] {
                for (long k = 0; k < s.n; ++k) {
                    mutex.lock();
                    ++counter;
                    keep(counter);
                    mutex.unlock();
                }
            });
        });
        cost.add(1e9 * time / static_cast<double>(s.n), counter == s.n);
    }
    return print_all("mutex", Library::k_name, s, {cost});
}

} // namespace tulle::bench
