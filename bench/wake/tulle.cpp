// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "wake.hpp"

namespace {

struct tulle_poster : tulle::bench::tulle_runtime {
    using tulle_runtime::tulle_runtime;

    template <class F> void post(F f) { tulle::spawn_detached(f); }
};

} // namespace

int main(int argc, char** argv) { return tulle::bench::wake_main<tulle_poster>(argc, argv); }
