// SPDX-License-Identifier: Apache-2.0
#include "dsm/carrier.hpp"

#include "base/error.hpp"
#include "dsm/coherent_host.hpp"

#include <tulle/detail/attributes.hpp>
#include <tulle/this_thread.hpp>

#include <algorithm>
#include <cerrno>

namespace tulle::dsm {

namespace {

constexpr unsigned k_turns_alone = 1000; // then others have the processor

std::size_t serve_at_once(int from, std::span<std::byte const> request,
                          std::byte* answer) noexcept {
    return serve(static_cast<host_number>(from), request.data(), answer);
}

// Not by the address that the caller may remember: it may go on on another OS thread.
TULLE_NOINLINE void set_errno(int value) noexcept { errno = value; }

} // namespace

carrier::carrier(messenger::endpoint& by, std::vector<host_number> const& to) noexcept
    : m_by(by), m_calls(by), m_most(~std::size_t{0}) {
    for (host_number const h : to) m_most = std::min(m_most, by.transport().most_bytes_to(h));
}

carrier::carrier(carrier const& of, messenger::waits_by how) noexcept
    : m_by(of.m_by), m_calls(of.m_by, how), m_most(of.m_most) {}

void carrier::ask(host_number to, std::byte const* request, std::size_t bytes, std::byte* answer,
                  std::size_t room) noexcept {
    m_calls.ask(to, &serve_at_once, {request, bytes}, {answer, room});
}

void carrier::wait() noexcept {
    if (!m_calls.wait())
        base::fatal("coherent memory: a place has died, and with it what it was the home of");
}

void carrier::ask_beside(void (*f)(far_hosts& others, void* argument) noexcept,
                         void* argument) noexcept {
    int const kept = errno; // a load does not change it
    {
        carrier own(*this, messenger::waits_by::letting_others_run);
        f(own, argument);
    }
    set_errno(kept);
}

void carrier::pause(unsigned turn) noexcept { static_cast<void>(m_calls.pause(turn)); }

void carrier::let_others_run() noexcept {
    int const kept = errno;
    if (!messenger::may_let_others_run())
        static_cast<void>(m_calls.pause(k_turns_alone));
    else if (!m_by.poll_between())
        this_thread::yield();
    set_errno(kept);
}

} // namespace tulle::dsm
