// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle_blocking.hpp"
#include "behind_blocked.hpp"

namespace {

// Readers begin on the workers, not instead of the thread that makes them.
struct runtime : tulle::bench::tulle_blocking_runtime {
    using tulle_blocking_runtime::tulle_blocking_runtime;
    template <class F> static void detach(F f) { tulle::spawn_detached(f); }
};

} // namespace

tulle::bench::benchmark const registered("behind-blocked", "tulle", [](int argc, char** argv) {
    return tulle::bench::behind_blocked_main<runtime>(argc, argv);
});
