// SPDX-License-Identifier: Apache-2.0
// What is said of a fault at a place when the address is good at another one: pointers into heaps
// and stacks, and values of global variables, do not travel.
#pragma once

#include "net/packet.hpp"
#include "net/session.hpp"

namespace tulle::membership {

// A place that is not alone calls this; faults are explained from now on. `all` null: nothing is
// known of the other processes.
void explain_faults(net::session const* all, net::rank here) noexcept;
void stop_explaining_faults() noexcept;

} // namespace tulle::membership
