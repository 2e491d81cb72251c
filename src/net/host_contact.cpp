// SPDX-License-Identifier: Apache-2.0
#include "net/host_contact.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <sstream>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

namespace tulle::net {

namespace {

in6_addr mapped(in_addr address) noexcept {
    in6_addr made{};
    made.s6_addr[10] = made.s6_addr[11] = 0xFF;
    std::memcpy(&made.s6_addr[12], &address, sizeof address);
    return made;
}

// Those of links mean nothing without the interface.
std::optional<in6_addr> address_in(sockaddr const* address) noexcept {
    if (address == nullptr) return std::nullopt;
    if (address->sa_family == AF_INET)
        return mapped(reinterpret_cast<sockaddr_in const*>(address)->sin_addr);
    if (address->sa_family != AF_INET6) return std::nullopt;
    in6_addr const& found = reinterpret_cast<sockaddr_in6 const*>(address)->sin6_addr;
    if (IN6_IS_ADDR_LINKLOCAL(&found)) return std::nullopt;
    return found;
}

void add_addresses(host_contact& to, ifaddrs const* all, bool of_loopback) noexcept {
    for (ifaddrs const* each = all; each != nullptr && to.address_count < to.addresses.size();
         each = each->ifa_next) {
        if ((each->ifa_flags & IFF_UP) == 0 ||
            ((each->ifa_flags & IFF_LOOPBACK) != 0) != of_loopback)
            continue;
        if (auto const address = address_in(each->ifa_addr))
            to.addresses[to.address_count++] = *address;
    }
}

} // namespace

host_contact contact_of_this_host() noexcept {
    host_contact found;
    gethostname(found.name.data(), found.name.size() - 1);
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return found;
    std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> const held(all, &freeifaddrs);
    add_addresses(found, all, false);
    if (found.address_count == 0) add_addresses(found, all, true);
    return found;
}

std::string text_of(host_contact const& contact) {
    std::ostringstream text;
    text << contact.job << ' ' << contact.datagram_port << ' ' << contact.probe_port << ' '
         << contact.name.data();
    for (std::size_t k = 0; k < contact.address_count; ++k) {
        std::array<char, INET6_ADDRSTRLEN> address{};
        text << ' ' << inet_ntop(AF_INET6, &contact.addresses[k], address.data(), address.size());
    }
    return text.str();
}

std::optional<host_contact> parse_contact(std::string const& text) {
    std::istringstream words(text);
    host_contact found;
    std::string name;
    if (!(words >> found.job >> found.datagram_port >> found.probe_port >> name))
        return std::nullopt;
    std::copy_n(name.begin(), std::min(name.size(), found.name.size() - 1), found.name.begin());
    for (std::string address; found.address_count < found.addresses.size() && words >> address;
         ++found.address_count)
        if (inet_pton(AF_INET6, address.c_str(), &found.addresses[found.address_count]) != 1)
            return std::nullopt;
    return found;
}

} // namespace tulle::net
