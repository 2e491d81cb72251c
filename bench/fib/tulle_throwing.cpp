// SPDX-License-Identifier: Apache-2.0
// Threads that the compiler must expect to throw.
#include "../common/libraries/tulle.hpp"
#include "fib.hpp"

namespace {

struct tulle_throwing_runtime : tulle::bench::tulle_runtime {
    static constexpr char const* k_name = "tulle_throwing";
    using tulle_runtime::tulle_runtime;
};

} // namespace

tulle::bench::benchmark const registered("fib", "tulle_throwing", [](int argc, char** argv) {
    return tulle::bench::fib_main<tulle_throwing_runtime, true>(argc, argv);
});
