// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "grain1.hpp"

#include <tulle/parallel_for.hpp>

namespace tulle::bench {

benchmark const registered("grain1", "tulle", [](int argc, char** argv) {
    settings const s = grain1_settings(argc, argv);
    tulle_runtime library(s.workers);
    int result = 0;
    library.run([&] {
        result = grain1_main("tulle", s, [](long n, auto body) {
            tulle::parallel_for(0L, n, body, tulle::schedule::dynamic());
        });
    });
    return result;
});

} // namespace tulle::bench
