// SPDX-License-Identifier: Apache-2.0
// SPARC only: the register windows are flushed by a trap into the kernel.
#include "backend_pair.hpp"
#include "switch.hpp"

namespace tulle::bench {

benchmark const registered("switch", "tulle_trap", [](int argc, char** argv) {
    using pair = backend_pair<tulle::arch::trap_flush_backend>;
    return switch_main<pair>(argc, argv, "tulle_trap");
});

} // namespace tulle::bench
