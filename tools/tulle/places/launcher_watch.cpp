// SPDX-License-Identifier: Apache-2.0
#include "places/launcher_watch.hpp"

#include <cstdint>
#include <cstdlib>
#include <random>

#include <sys/eventfd.h>
#include <unistd.h>

namespace tulle::tool {

namespace {

constexpr std::uint32_t k_own_id = UINT32_MAX; // places have ranks

std::uint64_t random_number() {
    std::random_device source;
    return (std::uint64_t{source()} << 32U) | source();
}

} // namespace

launcher_watch::launcher_watch(std::chrono::seconds limit) : m_limit(limit) {
    // Of a job that this one belongs to.
    unsetenv(net::k_launcher_variable); // NOLINT(concurrency-mt-unsafe)
    if (limit.count() == 0) return;
    auto watch = std::make_unique<net::host_watch>(random_number());
    if (!watch->contact().is_reachable()) return;
    m_news = eventfd(0, EFD_CLOEXEC);
    m_watch = std::move(watch);
    std::string const own = net::text_of(m_watch->contact());
    setenv(net::k_launcher_variable, own.c_str(), 1); // NOLINT(concurrency-mt-unsafe)
}

launcher_watch::~launcher_watch() {
    m_watch = nullptr;
    if (m_news >= 0) close(m_news);
}

void launcher_watch::begin() {
    if (m_watch == nullptr) return;
    net::host_watch::settings chosen;
    chosen.own_id = k_own_id;
    // The places of hosts that are left have the word before, as they know which places are lost.
    chosen.limit_ns =
        static_cast<std::uint64_t>(std::chrono::nanoseconds(m_limit).count()) / 10 * 11;
    chosen.takes_strangers = true;
    chosen.tell_lost = [this](net::host_watch::member const& host, net::host_watch::loss how) {
        // Of processes that end their parents tell.
        if (how == net::host_watch::loss::unreachable) note(host.contact.name.data());
    };
    chosen.tell_stopped = [](net::host_watch::member const&) {};
    chosen.tell_unheard = [](net::host_watch::member const&) {};
    m_watch->start(std::move(chosen));
}

std::optional<std::string> launcher_watch::lost_host() const {
    std::lock_guard const held(m_lock);
    return m_lost;
}

void launcher_watch::note(std::string const& host) {
    std::lock_guard const held(m_lock);
    if (!m_lost) m_lost = host;
    static_cast<void>(eventfd_write(m_news, 1));
}

} // namespace tulle::tool
