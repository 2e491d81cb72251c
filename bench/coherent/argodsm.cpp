// SPDX-License-Identifier: Apache-2.0
#include "argodsm.hpp"

namespace tulle::bench {

benchmark const registered("coherent", "argodsm", [](int argc, char** argv) {
    return argodsm::coherent_main(argc, argv, "argodsm", "8");
});

} // namespace tulle::bench
