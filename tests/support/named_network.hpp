// SPDX-License-Identifier: Apache-2.0
//
// Virtual networks with names, for suites that run over several of them:
//
//     class calls : started, public testing::TestWithParam<named_network> {
//         loopback_places m_places{3, GetParam().options};
//     };
//     INSTANTIATE_TEST_SUITE_P(networks, calls, unlike_networks(), network_name);
//
// What a suite chooses besides is in a struct of its own that derives from named_network.
#pragma once

#include "net/loopback_transport.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <ostream>
#include <string>

struct named_network {
    char const* name; // of letters, digits and underscores
    tulle::net::loopback_options options{};

    friend std::ostream& operator<<(std::ostream& to, named_network const& n) {
        return to << n.name;
    }
};

struct loaded_network : named_network {
    std::size_t load; // bytes of each value that is sent
};

inline constexpr auto network_name = [](auto const& which) {
    return std::string(which.param.name);
};

// Each in a way of its own: messages keep their order or do not, few may be on their way, payloads
// are staged or cut into small pieces, and memory of other places cannot be reached.
inline auto unlike_networks() {
    return testing::Values(
        named_network{"in_order"}, named_network{"out_of_order", {.seed = 7}},
        named_network{"narrow", {.most_waiting = 3}},
        named_network{"staged",
                      {.seed = 9, .most_bytes = 512, .allows_read = false, .staging_bytes = 65536}},
        named_network{
            "unreadable",
            {.seed = 5, .most_bytes = 600, .allows_read = false, .shares_segments = false}});
}
