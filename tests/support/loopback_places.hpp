// SPDX-License-Identifier: Apache-2.0
//
// Several places in this process, over a virtual network. The thread that makes them stands at place 0.
#pragma once

#include "net/loopback_transport.hpp"
#include "remote/engine.hpp"
#include "remote/governor.hpp"

#include <tulle/place.hpp>

#include <memory>
#include <vector>

class loopback_places {
public:
    explicit loopback_places(int count, tulle::net::loopback_options const& options = {})
        : m_network(static_cast<tulle::net::rank>(count), options),
          m_engines(make_engines(m_network)),
          m_standing{m_engines.front().get(), nullptr},
          m_stand(m_standing) {}

    [[nodiscard]] tulle::net::loopback_network& network() noexcept { return m_network; }
    [[nodiscard]] tulle::remote::engine& engine(int index) noexcept { return *m_engines[static_cast<std::size_t>(index)]; }

private:
    using engines = std::vector<std::unique_ptr<tulle::remote::engine>>;

    static engines make_engines(tulle::net::loopback_network& network) {
        engines all;
        for (tulle::net::rank r = 0; r < network.count(); ++r) all.push_back(std::make_unique<tulle::remote::engine>(network.join(r)));
        for (auto const& one : all) one->start();
        return all;
    }

    tulle::net::loopback_network m_network;
    engines m_engines;
    tulle::remote::standing m_standing;
    tulle::remote::stand m_stand;
};
