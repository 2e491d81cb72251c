// SPDX-License-Identifier: Apache-2.0
#include "../common/paper.hpp"

namespace tulle::bench {

benchmark const registered("paper-fib", "tulle_setjmp", [](int argc, char** argv) {
    return paper_fib_main<tulle::arch::setjmp_backend>(argc, argv, "tulle_setjmp");
});

} // namespace tulle::bench
