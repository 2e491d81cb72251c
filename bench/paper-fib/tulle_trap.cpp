// SPDX-License-Identifier: Apache-2.0
// SPARC only: the register windows are flushed by a trap into the kernel.
#include "../common/paper.hpp"

namespace tulle::bench {

benchmark const registered("paper-fib", "tulle_trap", [](int argc, char** argv) {
    return paper_fib_main<tulle::arch::trap_flush_backend>(argc, argv, "tulle_trap");
});

} // namespace tulle::bench
