// SPDX-License-Identifier: Apache-2.0
// SPARC only: the register windows are flushed by a trap into the kernel.
#include "backend_pair.hpp"
#include "switch.hpp"

int main(int argc, char** argv) {
    using pair = tulle::bench::backend_pair<tulle::arch::trap_flush_backend>;
    return tulle::bench::switch_main<pair>(argc, argv, "tulle_trap");
}
