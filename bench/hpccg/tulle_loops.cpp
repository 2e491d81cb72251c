// SPDX-License-Identifier: Apache-2.0
#include "../common/libraries/tulle.hpp"
#include "hpccg.hpp"

#include <tulle/parallel_for.hpp>

namespace {

struct tulle_loops_runtime : tulle::bench::tulle_runtime {
    static constexpr char const* k_name = "tulle_loops";
    using tulle_runtime::tulle_runtime;
};

struct parallel_loops {
    template <class Body> static void each(std::size_t count, Body const& body) {
        tulle::parallel_for(std::size_t{0}, count, body);
    }
};

} // namespace

tulle::bench::benchmark const registered("hpccg", "tulle_loops", [](int argc, char** argv) {
    return tulle::bench::hpccg_main<tulle_loops_runtime, parallel_loops>(argc, argv);
});
