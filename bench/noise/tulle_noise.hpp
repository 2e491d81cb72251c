// SPDX-License-Identifier: Apache-2.0
// noise by a thread on each worker.
#pragma once

#include "../common/libraries/tulle.hpp"
#include "noise.hpp"

namespace tulle::bench {

inline std::vector<quanta> quanta_of_workers(int workers, long n) {
    std::vector<quanta> all(static_cast<std::size_t>(workers));
    tulle::scope threads;
    for (quanta& own : all) threads.spawn([&own, n] { own = do_quanta(n, &quantum_of_work); });
    threads.join();
    return all;
}

inline int tulle_noise_main(settings const& s, char const* name, int workers) {
    tulle_runtime library(workers);
    return noise_main(s, name, [&library, workers](long n) {
        std::vector<quanta> done;
        library.run([&] { done = quanta_of_workers(workers, n); });
        return done;
    });
}

} // namespace tulle::bench
