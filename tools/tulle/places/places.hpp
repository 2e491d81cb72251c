// SPDX-License-Identifier: Apache-2.0
// A program at several places of this machine: starts its processes, passes on what they print, and
// sees to it that all of them end.
#pragma once

#include "process.hpp"
#include "tagged_output.hpp"

#include <chrono>

namespace tulle::tool {

constexpr std::chrono::seconds k_default_grace{5};

struct places_request {
    arguments words;
    unsigned count = 1;
    tagging tags = tagging::others;
    bool may_bind = true;                         // places to processors of their own
    bool shares_input = false;                    // places read that of place 0
    std::chrono::seconds grace = k_default_grace; // to end after a signal, before they are killed
};

// The exit code: that of place 0, also where it ends by itself after a signal; of the first other
// place that fails; 128 + signal for one that was ended by a signal.
// Throws failure: a place cannot be started.
int run_places(places_request const& request);

} // namespace tulle::tool
