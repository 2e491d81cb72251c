// SPDX-License-Identifier: Apache-2.0
// SPARC only: the register windows are flushed by a trap into the kernel.
#include "../common/simple_threads_paper.hpp"

namespace tulle::bench {

benchmark const registered("paper-simple", "tulle_trap", [](int argc, char** argv) {
    return paper_simple_main<tulle::arch::trap_flush_backend>(argc, argv, "tulle_trap");
});

} // namespace tulle::bench
