// SPDX-License-Identifier: Apache-2.0
#include "../common/paper.hpp"

namespace tulle::bench {

benchmark const registered("paper-scale", "tulle", [](int argc, char** argv) {
    return paper_scale_main<tulle::arch::backend>(argc, argv, "tulle");
});

} // namespace tulle::bench
