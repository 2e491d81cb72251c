// SPDX-License-Identifier: Apache-2.0
#include "net/host_transport.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace tulle::net {

namespace {

constexpr std::uint32_t k_near_polls_per_far = 16; // while places of this host send all the time

// A message from a place of this host names its sender by the number that the place has among those
// of this host. The receiver gets the number among all places.
class global_ranks final : public receiver {
public:
    global_ranks(receiver& sink, std::vector<rank> const& ranks) noexcept
        : m_to(sink), m_ranks(ranks) {}
    void deliver(packet const& head, std::byte const* payload) noexcept override {
        packet renumbered = head;
        renumbered.from = static_cast<std::uint16_t>(m_ranks[head.from]);
        m_to.deliver(renumbered, payload);
    }
    void place_died(rank dead, int wait_status) noexcept override {
        m_to.place_died(m_ranks[dead], wait_status);
    }

private:
    receiver& m_to;
    std::vector<rank> const& m_ranks;
};

// MPI tells of deaths at this host, too. A receiver that leaves those to the shared memory, out of
// which the last messages of the dead still come.
class deaths_by_memory final : public receiver {
public:
    deaths_by_memory(receiver& sink, session const& host, std::vector<rank> const& near_of) noexcept
        : m_to(sink), m_host(host), m_near_of(near_of) {}
    void deliver(packet const& head, std::byte const* payload) noexcept override {
        m_to.deliver(head, payload);
    }
    void moved(rank peer, std::uint64_t cookie, bool was_sent) noexcept override {
        m_to.moved(peer, cookie, was_sent);
    }
    void place_died(rank dead, int wait_status) noexcept override {
        if (m_near_of[dead] >= m_host.places()) return m_to.place_died(dead, wait_status);
        m_host.declare_dead(m_near_of[dead], wait_status);
        m_has_declared = true;
    }
    [[nodiscard]] bool has_declared() const noexcept { return m_has_declared; }

private:
    receiver& m_to;
    session const& m_host;
    std::vector<rank> const& m_near_of;
    bool m_has_declared = false;
};

} // namespace

host_transport::host_transport(std::unique_ptr<shm_transport> near, std::vector<rank> ranks,
                               std::unique_ptr<mpi_transport> far)
    : m_near(std::move(near)),
      m_far(std::move(far)),
      m_ranks(std::move(ranks)),
      m_near_of(m_far->count(), k_elsewhere),
      m_is_alone(m_ranks.size() == m_far->count() && !m_far->tells_deaths()) {
    for (rank k = 0; k < m_ranks.size(); ++k) m_near_of[m_ranks[k]] = k;
    m_far->wake_by([this] { wake(); });
}

std::size_t host_transport::most_bytes() const noexcept {
    return std::min(m_near->most_bytes(), m_far->most_bytes());
}

bool host_transport::try_send(rank to, packet head, std::byte const* payload) noexcept {
    rank const near = m_near_of[to];
    return near != k_elsewhere ? m_near->try_send(near, head, payload)
                               : m_far->try_send(to, head, payload);
}

bool host_transport::poll(receiver& sink) noexcept {
    global_ranks renumbered(sink, m_ranks);
    bool const is_found = m_near->poll(renumbered);
    if (m_is_alone || (is_found && ++m_polls % k_near_polls_per_far != 0)) return is_found;
    deaths_by_memory far(sink, m_near->joined(), m_near_of);
    bool const is_found_far = m_far->poll(far);
    if (far.has_declared()) static_cast<void>(m_near->poll(renumbered));
    return is_found_far || is_found;
}

void host_transport::sleep(std::uint64_t deadline) noexcept {
    if (m_is_alone) return m_near->sleep(deadline);
    m_far->sleep_at(m_near->own_doorbell(), deadline);
}

void host_transport::end_watch() noexcept {
    if (m_is_alone) return m_near->end_watch();
    m_far->end_watch_at(m_near->own_doorbell());
}

// It stages for places of this host only.
transport::staged host_transport::stage(rank to, std::size_t bytes) noexcept {
    return m_near_of[to] != k_elsewhere ? m_near->stage(m_near_of[to], bytes) : staged();
}

// The file has room for all places, and takes memory for those that are here.
std::byte* host_transport::map_segments(std::size_t each) noexcept {
    session const& host = m_near->joined();
    if (!reserve_segments(each) || !host.grow_segments(m_segments.size())) return nullptr;
    for (rank const r : m_ranks)
        if (!m_segments.fill_from(host.segments_descriptor(), r * each, each)) return nullptr;
    return m_segments.low();
}

std::span<std::byte> host_transport::steal_area(rank place) noexcept {
    return m_near_of[place] != k_elsewhere ? m_near->steal_area(m_near_of[place])
                                           : std::span<std::byte>();
}

shared_arrivals* host_transport::arrivals_of(rank place) noexcept {
    return m_near_of[place] != k_elsewhere ? m_near->arrivals_of(m_near_of[place]) : nullptr;
}

int host_transport::read(rank from, void* to, std::uint64_t address, std::size_t bytes) noexcept {
    rank const near = m_near_of[from];
    return near != k_elsewhere ? m_near->read(near, to, address, bytes)
                               : m_far->read(from, to, address, bytes);
}

// Streams run between hosts only. Places of this host send messages instead where memory cannot be
// read: perhaps nobody polls the network.
std::uint32_t host_transport::begin_receive(rank from, std::span<std::byte> to,
                                            std::uint64_t cookie) noexcept {
    return m_near_of[from] != k_elsewhere ? 0 : m_far->begin_receive(from, to, cookie);
}

} // namespace tulle::net
