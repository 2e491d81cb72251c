// SPDX-License-Identifier: Apache-2.0
// Where a host of a job can be reached by datagrams (net/host_watch.hpp): what hosts tell each
// other by an MPI, and the launcher in a variable.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <netinet/in.h>

namespace tulle::net {

struct host_contact {
    static constexpr std::size_t k_most_addresses = 6;

    std::uint64_t job = 0; // what datagrams of one job have in common
    std::uint32_t address_count = 0;
    std::uint16_t datagram_port = 0; // 0: it cannot be reached
    // of TCP: whether the host is there though the process does not answer
    std::uint16_t probe_port = 0;
    std::array<in6_addr, k_most_addresses> addresses{}; // those of IPv4 mapped
    std::array<char, 64> name{};                        // of the host

    [[nodiscard]] bool is_reachable() const noexcept {
        return datagram_port != 0 && address_count != 0;
    }
};

// The addresses of this host that others may know, and its name. Without any network they are those
// of the loopback.
[[nodiscard]] host_contact contact_of_this_host() noexcept;

// They turn a contact into words for a variable of the environment, and back. Nothing: the text is
// no contact.
constexpr char const* k_launcher_variable = "TULLE_LAUNCHER"; // the contact of `tulle run`
[[nodiscard]] std::string text_of(host_contact const& contact);
[[nodiscard]] std::optional<host_contact> parse_contact(std::string const& text);

} // namespace tulle::net
