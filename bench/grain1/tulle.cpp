// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "grain1.hpp"

int main(int argc, char** argv) {
    using namespace tulle::bench;
    settings const s = grain1_settings(argc, argv);
    tulle_runtime library(s.workers);
    int result = 0;
    library.run(
        [&] { result = grain1_main("tulle", s, [](long n, auto body) { tulle::parallel_for(0L, n, body, tulle::schedule::dynamic()); }); });
    return result;
}
