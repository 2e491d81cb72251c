// SPDX-License-Identifier: Apache-2.0
#include "net/loopback_transport.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace tulle::net {

class loopback_transport final : public transport {
public:
    loopback_transport(loopback_network& network, rank here) noexcept : m_network(network), m_here(here) {}

    [[nodiscard]] rank here() const noexcept override { return m_here; }
    [[nodiscard]] rank count() const noexcept override { return m_network.count(); }
    [[nodiscard]] std::size_t most_bytes() const noexcept override { return m_network.m_options.most_bytes; }

    [[nodiscard]] bool try_send(rank to, packet head, std::byte const* payload) noexcept override try {
        TULLE_ASSERT(head.size <= most_bytes(), "a message of %u bytes is above the limit of %zu", head.size, most_bytes());
        head.from = static_cast<std::uint16_t>(m_here);
        auto& in = *m_network.m_inboxes[to];
        {
            std::lock_guard const held(in.lock);
            if (m_network.m_options.most_waiting != 0 && in.waiting.size() >= m_network.m_options.most_waiting) return false;
            in.waiting.push_back({head, std::vector<std::byte>(payload, payload + head.size)});
            ++in.count;
        }
        in.bell.ring();
        return true;
    } catch (std::bad_alloc const&) {
        return false;
    }

    bool poll(receiver& to) noexcept override {
        auto& in = own();
        std::unique_lock held(in.lock);
        if (in.waiting.empty()) return false;
        auto const chosen = in.waiting.begin() + static_cast<std::ptrdiff_t>(m_network.choose(in));
        std::for_each(in.waiting.begin(), chosen, [](auto& older) { ++older.passed_over; });
        auto const taken = std::move(*chosen);
        in.waiting.erase(chosen);
        held.unlock();
        to.deliver(taken.head, taken.payload.data());
        return true;
    }

    void begin_watch() noexcept override { own().bell.begin_watch(); }
    void end_watch() noexcept override { own().bell.end_watch(); }
    void arm() noexcept override { own().bell.arm(); }
    void sleep(std::uint64_t deadline) noexcept override { own().bell.sleep(deadline); }
    void wake() noexcept override { own().bell.wake(); }

    [[nodiscard]] int read(rank /*from*/, void* to, std::uint64_t address, std::size_t bytes) noexcept override {
        if (!m_network.m_options.allows_read) return EPERM;
        if (bytes != 0)
            std::memcpy(to, reinterpret_cast<void const*>(address), bytes); // NOLINT(performance-no-int-to-ptr): of an object here
        return 0;
    }

private:
    [[nodiscard]] loopback_network::inbox& own() const noexcept { return *m_network.m_inboxes[m_here]; }

    loopback_network& m_network;
    rank m_here;
};

loopback_network::loopback_network(rank places, loopback_options const& chosen) : m_options(chosen) {
    for (rank r = 0; r < places; ++r) m_inboxes.push_back(std::make_unique<inbox>(chosen.seed + r));
}

std::unique_ptr<transport> loopback_network::join(rank as) { return std::make_unique<loopback_transport>(*this, as); }

std::uint64_t loopback_network::sent() noexcept {
    std::uint64_t sum = 0;
    for (auto const& in : m_inboxes) {
        std::lock_guard const held(in->lock);
        sum += in->count;
    }
    return sum;
}

// The oldest one when it has been passed over often enough; else any.
std::size_t loopback_network::choose(inbox& of) const noexcept {
    if (m_options.seed == 0 || of.waiting.front().passed_over >= m_options.most_delay) return 0;
    return of.random.below(static_cast<std::uint32_t>(of.waiting.size()));
}

} // namespace tulle::net
