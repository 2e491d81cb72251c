// SPDX-License-Identifier: Apache-2.0
// mutex: one thread locks and unlocks a mutex that nobody else wants, n times. Figure: ns per pair.
#pragma once

#include "../common/harness.hpp"

namespace tulle::bench {

// Whether another thread is kept out while this one holds the mutex, and no longer.
template <class Library> bool excludes_others(typename Library::mutex& mutex) {
    auto const another_gets_it = [&mutex] {
        bool gets_it = false;
        typename Library::group threads;
        threads.spawn([&mutex, &gets_it] {
            gets_it = mutex.try_lock();
            if (gets_it) mutex.unlock();
        });
        threads.wait();
        return gets_it;
    };
    mutex.lock();
    bool const kept_out = !another_gets_it();
    mutex.unlock();
    return kept_out && another_gets_it();
}

template <class Library> int mutex_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {20'000'000, 500'000});
    pin_if_single(s);
    Library library(s.workers);
    figure cost{"ns"};
    for (int i = 0; i < s.runs; ++i) {
        long counter = 0;
        double time = 0;
        bool right = false;
        library.run([&] {
            typename Library::mutex mutex;
            right = excludes_others<Library>(mutex);
            time = time_of([&] {
                for (long k = 0; k < s.n; ++k) {
                    mutex.lock();
                    ++counter;
                    keep(counter);
                    mutex.unlock();
                }
            });
        });
        cost.add(1e9 * time / static_cast<double>(s.n), right && counter == s.n);
    }
    return print_all("mutex", Library::k_name, s, {cost});
}

} // namespace tulle::bench
