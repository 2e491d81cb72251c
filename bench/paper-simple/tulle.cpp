// SPDX-License-Identifier: Apache-2.0
#include "../common/simple_threads_paper.hpp"

namespace tulle::bench {

benchmark const registered("paper-simple", "tulle", [](int argc, char** argv) {
    return paper_simple_main<tulle::arch::backend>(argc, argv, "tulle");
});

} // namespace tulle::bench
