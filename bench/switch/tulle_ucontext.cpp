// SPDX-License-Identifier: Apache-2.0
#include "backend_pair.hpp"
#include "switch.hpp"

namespace tulle::bench {

benchmark const registered("switch", "tulle_ucontext", [](int argc, char** argv) {
    using pair = backend_pair<tulle::arch::ucontext_backend>;
    return switch_main<pair>(argc, argv, "tulle_ucontext", {2'000'000, 50'000});
});

} // namespace tulle::bench
