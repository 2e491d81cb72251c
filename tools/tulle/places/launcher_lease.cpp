// SPDX-License-Identifier: Apache-2.0
#include "places/launcher_lease.hpp"

#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>

#include <sys/eventfd.h>
#include <unistd.h>

namespace tulle::tool {

namespace {

constexpr std::uint32_t k_launcher_id = UINT32_MAX;
constexpr std::uint32_t k_ids = 0x80000000U; // places have ranks

} // namespace

launcher_lease::launcher_lease(std::chrono::seconds limit) : m_limit(limit) {
    char const* const text = std::getenv(net::k_launcher_variable); // NOLINT(concurrency-mt-unsafe)
    auto const launcher = text != nullptr ? net::parse_contact(text) : std::nullopt;
    if (!launcher || limit.count() == 0) return;
    auto watch = std::make_unique<net::host_watch>(launcher->job);
    bool const is_here = std::strcmp(launcher->name.data(), watch->contact().name.data()) == 0;
    if (is_here || !watch->contact().is_reachable()) return;
    m_launcher = *launcher;
    m_news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    m_watch = std::move(watch);
}

launcher_lease::~launcher_lease() {
    m_watch = nullptr;
    if (m_news >= 0) close(m_news);
}

void launcher_lease::begin() {
    if (m_watch == nullptr) return;
    net::host_watch::settings chosen;
    chosen.own_id = std::random_device()() | k_ids;
    chosen.limit_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(m_limit).count());
    chosen.others = {{k_launcher_id, m_launcher}};
    chosen.tell_heard = [this](net::host_watch::member const&) { change(state::held); };
    // Whether it does not answer or is there without the launcher, nobody takes anything any more.
    chosen.tell_lost = [this](net::host_watch::member const&, net::host_watch::loss) {
        change(state::lost);
    };
    chosen.tell_stopped = [](net::host_watch::member const&) {};
    chosen.tell_unheard = [](net::host_watch::member const&) {}; // as behind a firewall
    m_state = state::unheard;
    if (!m_watch->start(std::move(chosen))) m_state = state::none;
}

void launcher_lease::take_news() const noexcept {
    eventfd_t count = 0;
    static_cast<void>(eventfd_read(m_news, &count));
}

void launcher_lease::change(state to) noexcept {
    m_state = to;
    static_cast<void>(eventfd_write(m_news, 1));
}

} // namespace tulle::tool
