// SPDX-License-Identifier: Apache-2.0
// A place: its messages, and all that uses them. The order of the members is that in which they enter themselves, and in which
// they learn of deaths.
#pragma once

#include "remote/balance.hpp"
#include "remote/engine.hpp"
#include "remote/finish_service.hpp"
#include "remote/memory.hpp"
#include "remote/place_state.hpp"

#include <memory>
#include <utility>

namespace tulle::remote {

struct place_services {
    // Throws std::bad_alloc; std::invalid_argument: the transport's messages are too small.
    explicit place_services(std::unique_ptr<net::transport> over, memory_settings const& chosen = {})
        : messages(std::move(over)), finishes(messages), memory(&messages, chosen), work(&messages), state(messages) {}
    place_services(place_services const&) = delete;
    place_services& operator=(place_services const&) = delete;
    ~place_services() { messages.stop(); } // what is destroyed first is still used until then

    engine messages;
    finish_service finishes;
    global_memory memory;
    balance work;
    place_state state;
};

} // namespace tulle::remote
