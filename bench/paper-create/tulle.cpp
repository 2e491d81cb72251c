// SPDX-License-Identifier: Apache-2.0
#include "../common/simple_threads_paper.hpp"

namespace tulle::bench {

benchmark const registered("paper-create", "tulle", [](int argc, char** argv) {
    return paper_create_main<tulle::arch::backend>(argc, argv, "tulle");
});

} // namespace tulle::bench
