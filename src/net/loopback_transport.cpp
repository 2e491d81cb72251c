// SPDX-License-Identifier: Apache-2.0
#include "net/loopback_transport.hpp"

#include "base/assert.hpp"
#include "net/staging_area.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace tulle::net {

class loopback_transport final : public transport {
public:
    loopback_transport(loopback_network& network, rank here)
        : m_network(network),
          m_here(here),
          m_memory(network.options().staging_bytes),
          m_staging(m_memory.data(), m_memory.size()),
          m_buried(network.count()) {}

    [[nodiscard]] rank here() const noexcept override { return m_here; }
    [[nodiscard]] rank count() const noexcept override { return m_network.count(); }
    [[nodiscard]] std::size_t most_bytes() const noexcept override {
        return m_network.m_options.most_bytes;
    }

    [[nodiscard]] bool try_send(rank to, packet head, std::byte const* payload) noexcept override
        try {
        TULLE_ASSERT(head.size <= most_bytes(), "a message of %u bytes is above the limit of %zu",
                     head.size, most_bytes());
        head.from = static_cast<std::uint16_t>(m_here);
        auto& in = *m_network.m_inboxes[to];
        {
            std::lock_guard const held(in.lock);
            if (m_network.is_dead(m_here) || m_network.is_dead(to)) return true;
            if (m_network.m_options.most_waiting != 0 &&
                in.waiting.size() >= m_network.m_options.most_waiting)
                return false;
            in.waiting.push_back({head, std::vector<std::byte>(payload, payload + head.size)});
            ++in.count;
        }
        in.doorbell.ring();
        return true;
    } catch (std::bad_alloc const&) {
        return false;
    }

    bool poll(receiver& sink) noexcept override {
        bool const found = poll_one(sink);
        // Pairs with kill.
        if (m_network.m_deaths.load(std::memory_order_acquire) == m_deaths) return found;
        return find_the_dead(sink) || found;
    }
    void begin_watch() noexcept override { own().doorbell.begin_watch(); }
    void end_watch() noexcept override { own().doorbell.end_watch(); }
    void arm() noexcept override { own().doorbell.arm(); }
    void sleep(std::uint64_t deadline) noexcept override { own().doorbell.sleep(deadline); }
    void wake() noexcept override { own().doorbell.wake(); }

    // Its name is its address.
    [[nodiscard]] staged stage(rank to, std::size_t bytes) noexcept override {
        std::byte* const taken = m_staging.take(to, bytes);
        return {taken, reinterpret_cast<std::uintptr_t>(taken)};
    }
    void unstage(rank /*to*/, std::uint64_t name) noexcept override {
        m_staging.give_back(at_address(name));
    }
    [[nodiscard]] std::byte const* find_staged(std::uint64_t name) const noexcept override {
        return at_address(name);
    }
    [[nodiscard]] std::byte* map_segments(std::size_t each) noexcept override {
        return m_network.segments(each);
    }
    [[nodiscard]] bool reaches(rank place) const noexcept override {
        return place == m_here || m_network.m_options.shares_segments;
    }

    [[nodiscard]] std::span<std::byte> steal_area(rank place) noexcept override {
        return m_network.m_options.shares_segments ? m_network.steal_area(place)
                                                   : std::span<std::byte>();
    }

    [[nodiscard]] int read(rank from, void* to, std::uint64_t address,
                           std::size_t bytes) noexcept override {
        if (m_network.is_dead(from) || m_network.is_dead(m_here)) return ESRCH;
        if (!m_network.m_options.allows_read) return EPERM;
        if (bytes != 0)
            std::memcpy(to, reinterpret_cast<void const*>(address),
                        bytes); // NOLINT(performance-no-int-to-ptr): of an object here
        return 0;
    }

private:
    static std::byte* at_address(std::uint64_t name) noexcept {
        return reinterpret_cast<std::byte*>(
            name); // NOLINT(performance-no-int-to-ptr): all places are here
    }
    [[nodiscard]] loopback_network::inbox& own() const noexcept {
        return *m_network.m_inboxes[m_here];
    }
    bool poll_one(receiver& sink) noexcept {
        auto& in = own();
        std::unique_lock held(in.lock);
        if (in.waiting.empty()) return false;
        auto const chosen = in.waiting.begin() + static_cast<std::ptrdiff_t>(m_network.choose(in));
        std::for_each(in.waiting.begin(), chosen, [](auto& older) { ++older.passed_over; });
        auto const taken = std::move(*chosen);
        in.waiting.erase(chosen);
        held.unlock();
        sink.deliver(taken.head, taken.payload.data());
        return true;
    }

    // The polling thread calls this.
    bool find_the_dead(receiver& sink) noexcept {
        // Pairs with kill.
        std::uint32_t const deaths = m_network.m_deaths.load(std::memory_order_acquire);
        bool is_all = true, is_any = false;
        for (rank r = 0; r < count(); ++r) {
            if (r == m_here || m_buried[r] || !is_dead_for_us(r)) continue;
            bool const has_sent_all = !has_message_of(r);
            is_all = is_all && has_sent_all;
            is_any = is_any || has_sent_all;
            if (has_sent_all) report_death(r, sink);
        }
        if (is_all) m_deaths = deaths;
        return is_any;
    }
    [[nodiscard]] bool is_dead_for_us(rank r) const noexcept {
        return m_network.is_dead(r) || m_network.is_dead(m_here);
    }
    [[nodiscard]] bool has_message_of(rank r) const noexcept {
        auto& in = own();
        std::lock_guard const held(in.lock);
        return std::any_of(in.waiting.begin(), in.waiting.end(),
                           [r](auto const& m) { return m.head.from == r; });
    }
    void report_death(rank dead, receiver& sink) noexcept {
        m_buried[dead] = true;
        m_staging.lose(dead);
        rank const whose = m_network.is_dead(dead) ? dead : m_here;
        // relaxed: published by is_dead
        sink.place_died(dead,
                        m_network.m_inboxes[whose]->wait_status.load(std::memory_order_relaxed));
    }

    loopback_network& m_network;
    rank m_here;
    std::vector<std::byte> m_memory;
    staging_area m_staging;
    std::vector<bool> m_buried;
    std::uint32_t m_deaths = 0;
};

loopback_network::loopback_network(rank places, loopback_options const& chosen)
    : m_options(chosen) {
    for (rank r = 0; r < places; ++r) m_inboxes.push_back(std::make_unique<inbox>(chosen.seed + r));
}

std::unique_ptr<transport> loopback_network::join(rank as) {
    return std::make_unique<loopback_transport>(*this, as);
}

void loopback_network::kill(rank place, int wait_status) noexcept {
    auto& its = *m_inboxes[place];
    // relaxed: published by is_dead
    its.wait_status.store(wait_status, std::memory_order_relaxed);
    its.is_dead.store(true, std::memory_order_release); // pairs with is_dead()
    // Every thread that was sending has sent.
    for (auto const& in : m_inboxes) std::lock_guard const passed(in->lock);
    {
        std::lock_guard const held(its.lock);
        its.waiting.clear();
    }
    m_deaths.fetch_add(1, std::memory_order_release); // pairs with poll
    for (auto const& in : m_inboxes) in->doorbell.wake();
}

std::uint64_t loopback_network::sent() noexcept {
    std::uint64_t sum = 0;
    for (auto const& in : m_inboxes) {
        std::lock_guard const held(in->lock);
        sum += in->count;
    }
    return sum;
}

std::byte* loopback_network::segments(std::size_t each) noexcept {
    std::lock_guard const held(m_segments_lock);
    if (m_segments.is_valid()) return m_segments.low();
    auto made = os::fixed_range::reserve(0, each * count());
    if (!made.is_valid() || !made.fill(0, made.size())) return nullptr;
    m_segments = std::move(made);
    return m_segments.low();
}

std::span<std::byte> loopback_network::steal_area(rank place) noexcept {
    constexpr std::size_t k_bytes = std::size_t{1} << 20U;
    std::lock_guard const held(m_segments_lock);
    if (!m_steal_areas.is_valid()) {
        auto made = os::fixed_range::reserve(0, k_bytes * count());
        if (!made.is_valid() || !made.fill(0, made.size())) return {};
        m_steal_areas = std::move(made);
    }
    return {m_steal_areas.low() + place * k_bytes, k_bytes};
}

// The oldest one when it has been passed over often enough; else any.
std::size_t loopback_network::choose(inbox& own) const noexcept {
    if (m_options.seed == 0 || own.waiting.front().passed_over >= m_options.most_delay) return 0;
    return own.random.below(static_cast<std::uint32_t>(own.waiting.size()));
}

} // namespace tulle::net
