// SPDX-License-Identifier: Apache-2.0
// One thread on one processor, without a run time.
#include "noise.hpp"

namespace tulle::bench {

benchmark const registered("noise", "serial", [](int argc, char** argv) {
    settings s = noise_settings(argc, argv);
    s.workers = 1;
    pin_if_single(s);
    return noise_main(s, "serial",
                      [](long n) { return std::vector<quanta>{do_quanta(n, &quantum_of_work)}; });
});

} // namespace tulle::bench
