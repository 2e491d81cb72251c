// SPDX-License-Identifier: Apache-2.0
// A place: its messages, and all that uses them. The order of the members is that in which they
// enter themselves, and in which they learn of deaths.
#pragma once

#include "balance/balance.hpp"
#include "finish/finish_service.hpp"
#include "gmem_access/memory.hpp"
#include "messenger/endpoint.hpp"
#include "team/place_state.hpp"

#include <memory>
#include <utility>

namespace tulle::membership {

struct place_services {
    // Throws std::bad_alloc; std::invalid_argument: the transport's messages are too small.
    explicit place_services(std::unique_ptr<net::transport> over,
                            gmem_access::memory_settings const& chosen = {},
                            net::rank memory_places = 0)
        : messages(std::move(over), memory_places),
          scopes(messages),
          memory(&messages, chosen),
          work(&messages),
          state(messages) {}
    place_services(place_services const&) = delete;
    place_services& operator=(place_services const&) = delete;
    ~place_services() { messages.stop(); } // what is destroyed first is still used until then

    messenger::endpoint messages;
    finishes::finish_service scopes;
    gmem_access::global_memory memory;
    balance::balance work;
    teams::place_state state;
};

} // namespace tulle::membership
