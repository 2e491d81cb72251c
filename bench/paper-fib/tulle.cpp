// SPDX-License-Identifier: Apache-2.0
#include "../common/paper.hpp"

namespace tulle::bench {

benchmark const registered("paper-fib", "tulle", [](int argc, char** argv) {
    return paper_fib_main<tulle::arch::backend>(argc, argv, "tulle");
});

} // namespace tulle::bench
