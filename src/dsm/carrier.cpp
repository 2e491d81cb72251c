// SPDX-License-Identifier: Apache-2.0
#include "dsm/carrier.hpp"

#include "base/error.hpp"
#include "dsm/coherent_host.hpp"

#include <algorithm>

namespace tulle::dsm {

namespace {

std::size_t serve_at_once(int from, std::span<std::byte const> request,
                          std::byte* answer) noexcept {
    return serve(static_cast<host_number>(from), request.data(), answer);
}

} // namespace

carrier::carrier(messenger::endpoint& by, std::vector<host_number> const& to) noexcept
    : m_calls(by), m_most(~std::size_t{0}) {
    for (host_number const h : to) m_most = std::min(m_most, by.transport().most_bytes_to(h));
}

void carrier::ask(host_number to, std::byte const* request, std::size_t bytes, std::byte* answer,
                  std::size_t room) noexcept {
    m_calls.ask(to, &serve_at_once, {request, bytes}, {answer, room});
}

void carrier::wait() noexcept {
    if (!m_calls.wait())
        base::fatal("coherent memory: a place has died, and with it what it was the home of");
}

} // namespace tulle::dsm
