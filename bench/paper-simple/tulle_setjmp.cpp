// SPDX-License-Identifier: Apache-2.0
#include "../common/simple_threads_paper.hpp"

namespace tulle::bench {

benchmark const registered("paper-simple", "tulle_setjmp", [](int argc, char** argv) {
    return paper_simple_main<tulle::arch::setjmp_backend>(argc, argv, "tulle_setjmp");
});

} // namespace tulle::bench
