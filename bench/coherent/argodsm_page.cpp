// SPDX-License-Identifier: Apache-2.0
#include "argodsm.hpp"

namespace tulle::bench {

benchmark const registered("coherent", "argodsm_page", [](int argc, char** argv) {
    return argodsm::coherent_main(argc, argv, "argodsm_page", "1");
});

} // namespace tulle::bench
