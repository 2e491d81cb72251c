// SPDX-License-Identifier: Apache-2.0
#include "../common/simple_threads_paper.hpp"

namespace tulle::bench {

benchmark const registered("paper-simple", "tulle_ucontext", [](int argc, char** argv) {
    return paper_simple_main<tulle::arch::ucontext_backend>(argc, argv, "tulle_ucontext");
});

} // namespace tulle::bench
