// SPDX-License-Identifier: Apache-2.0
// Programs over places: `tulle run -n PLACES` starts them; main goes on at place 0 when the run
// time has started.
#pragma once

#include "harness.hpp"
#include "libraries/tulle.hpp"

#include <cstdio>
#include <cstdlib>

#include <tulle/tulle.hpp>

namespace tulle::bench {

class tulle_places : public tulle_runtime {
public:
    explicit tulle_places(settings const& s) : tulle_runtime(s.workers) {
        if (tulle::place_count() == s.places) return;
        std::fprintf(stderr, "there are %d places: run it with `tulle run -n %d`\n",
                     tulle::place_count(), s.places);
        std::exit(2);
    }
};

} // namespace tulle::bench
