// SPDX-License-Identifier: Apache-2.0
#include "tulle_noise.hpp"

namespace tulle::bench {

benchmark const registered("noise", "tulle", [](int argc, char** argv) {
    settings const s = noise_settings(argc, argv);
    return tulle_noise_main(s, "tulle", s.workers);
});

} // namespace tulle::bench
