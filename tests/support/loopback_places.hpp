// SPDX-License-Identifier: Apache-2.0
//
// Several places in this process, over a virtual network. The thread that makes them stands at
// place 0.
#pragma once

#include "membership/place_services.hpp"
#include "messenger/context.hpp"
#include "net/loopback_transport.hpp"
#include "refusing_transport.hpp"

#include <tulle/place.hpp>
#include <tulle/runtime.hpp>

#include <memory>
#include <utility>
#include <vector>

// The run time, from before the places until after them.
class started {
public:
    started(started const&) = delete;
    started& operator=(started const&) = delete;

protected:
    started() { tulle::initialize({.workers = 2}); }
    ~started() { tulle::finalize(); }
};

struct loopback_settings {
    tulle::gmem_access::memory_settings memory{};
    refusals refused{};
    bool survives = false;              // the others, when one is killed
    bool searches = false;              // for addresses in what is sent
    int reserved_cpu = -1;              // else the service threads of all poll there all the time
    tulle::net::rank memory_places = 0; // the last ones, which run no threads of the program
};

class loopback_places {
public:
    explicit loopback_places(int count, tulle::net::loopback_options const& options = {},
                             loopback_settings const& chosen = {})
        : m_network(static_cast<tulle::net::rank>(count), options),
          m_places(make_places(m_network, chosen)),
          m_context{&m_places.front()->messages, nullptr},
          m_scoped_context(m_context) {}

    [[nodiscard]] tulle::net::loopback_network& network() noexcept { return m_network; }
    [[nodiscard]] tulle::membership::place_services& services(int index) noexcept {
        return *m_places[static_cast<std::size_t>(index)];
    }
    [[nodiscard]] tulle::messenger::endpoint& endpoint(int index) noexcept {
        return services(index).messages;
    }

private:
    using all_places = std::vector<std::unique_ptr<tulle::membership::place_services>>;

    static all_places make_places(tulle::net::loopback_network& network,
                                  loopback_settings const& chosen) {
        all_places all;
        refusals refused = chosen.refused;
        for (tulle::net::rank r = 0; r < network.count(); ++r, ++refused.seed) {
            auto transport = std::make_unique<refusing_transport>(network.join(r), refused);
            all.push_back(std::make_unique<tulle::membership::place_services>(
                std::move(transport), chosen.memory, chosen.memory_places));
            tulle::messenger::endpoint& made = all.back()->messages;
            if (chosen.survives) made.survive_deaths();
            if (chosen.searches) made.search_for_addresses();
            made.reserve_processor(chosen.reserved_cpu);
        }
        for (auto const& one : all) one->messages.start();
        return all;
    }

    tulle::net::loopback_network m_network;
    all_places m_places;
    tulle::messenger::place_context m_context;
    tulle::messenger::scoped_context m_scoped_context;
};
