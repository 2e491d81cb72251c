// SPDX-License-Identifier: Apache-2.0
#include "tulle_noise.hpp"

#include <algorithm>

namespace tulle::bench {

benchmark const registered("noise", "tulle_kept", [](int argc, char** argv) {
    settings const s = noise_settings(argc, argv);
    tulle::set_option("reserve_cpu", "1");
    return tulle_noise_main(s, "tulle_kept", std::max(1, s.workers - 1));
});

} // namespace tulle::bench
