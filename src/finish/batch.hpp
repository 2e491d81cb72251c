// SPDX-License-Identifier: Apache-2.0
// The messages of a finish that one place sends to another during one epoch (batch_count.hpp).
#pragma once

#include "net/packet.hpp"

#include <compare>
#include <cstdint>

namespace tulle::finishes {

using net::rank;

struct batch {
    rank from;
    rank to;
    std::uint64_t epoch; // of `from`; 0: of home, whose epoch lasts as long as the finish
    friend auto operator<=>(batch const&, batch const&) = default;
};

} // namespace tulle::finishes
