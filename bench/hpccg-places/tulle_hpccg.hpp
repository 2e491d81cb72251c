// SPDX-License-Identifier: Apache-2.0
// hpccg-places by the places of Tulle.
#pragma once

#include "../common/kernels/hpccg_places.hpp"
#include "../common/places.hpp"
#include "hpccg_places.hpp"

#include <algorithm>

namespace tulle::bench {

template <class Places> int tulle_hpccg_main(int argc, char** argv, char const* name) {
    hpccg_settings const s(argc, argv);
    tulle_places library(s);
    std::vector<kernels::hpccg_outcome> outcomes;
    library.run([&] {
        using loops = kernels::fork_join_loops<tulle_runtime>;
        outcomes = kernels::hpccg_at_all_places<loops, Places>(s.domain,
                                                               kernels::k_hpccg_iterations, s.runs);
    });
    bool const right =
        std::all_of(outcomes.begin(), outcomes.end(), [](auto const& each) { return each.right; });
    return print_hpccg(s, name, outcomes.front(), right);
}

} // namespace tulle::bench
