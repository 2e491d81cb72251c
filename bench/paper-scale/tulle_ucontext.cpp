// SPDX-License-Identifier: Apache-2.0
#include "../common/paper.hpp"

namespace tulle::bench {

benchmark const registered("paper-scale", "tulle_ucontext", [](int argc, char** argv) {
    return paper_scale_main<tulle::arch::ucontext_backend>(argc, argv, "tulle_ucontext");
});

} // namespace tulle::bench
