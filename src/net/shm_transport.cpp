// SPDX-License-Identifier: Apache-2.0
#include "net/shm_transport.hpp"

#include "base/assert.hpp"
#include "base/few_bytes.hpp"

#include <tulle/detail/attributes.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <utility>

#include <sys/uio.h>

namespace tulle::net {

namespace {

constexpr std::size_t k_bytes_in_first = sizeof(ring_line::payload);
constexpr std::size_t k_most_eager = 4096;
constexpr int k_messages_per_ring = 64; // of one poll, so that no sender is served for ever

constexpr std::uint32_t lines_for(std::size_t bytes) {
    std::size_t const rest = bytes > k_bytes_in_first ? bytes - k_bytes_in_first : 0;
    return 1 + static_cast<std::uint32_t>((rest + sizeof(ring_line) - 1) / sizeof(ring_line));
}

// The payload goes on into the next lines.
std::byte* bytes_behind(ring_line& first) {
    return reinterpret_cast<std::byte*>(&first) + offsetof(ring_line, payload);
}

} // namespace

shm_transport::shm_transport(session shared, rank here)
    : m_session(std::move(shared)),
      m_here(here),
      m_staging(m_session.staging(here), m_session.staging_bytes()) {
    m_most_bytes = std::min(k_most_eager, m_session.lines() / 4 * sizeof(ring_line));
    for (rank r = 0; r < m_session.places(); ++r) {
        m_out.push_back(std::make_unique<outgoing>(
            producer(m_session.control(m_here, r), m_session.ring(m_here, r), m_session.lines())));
        m_in.emplace_back(m_session.control(r, m_here), m_session.ring(r, m_here),
                          m_session.lines());
    }
    m_senders.reserve(m_session.places());
}

bool shm_transport::try_send(rank to, packet head, std::byte const* payload) noexcept {
    TULLE_ASSERT(head.size <= m_most_bytes, "a message of %u bytes is above the limit of %zu",
                 head.size, m_most_bytes);
    std::uint32_t const lines = lines_for(head.size);
    head.from = static_cast<std::uint16_t>(m_here);
    {
        outgoing& out = *m_out[to];
        std::lock_guard const held(out.lock);
        if (TULLE_UNLIKELY(out.is_dead)) return true;
        ring_line* const first = out.ring.reserve(lines);
        if (first == nullptr) return false;
        // U1.
        if (TULLE_UNLIKELY(!std::exchange(out.is_used, true)))
            m_session.entry(to).senders.enter(m_here);
        first->head = head;
        base::copy_few_bytes(bytes_behind(*first), payload, head.size);
        m_order.before_send();
        out.ring.publish(lines);
    }
    m_session.entry(to).doorbell.ring();
    return true;
}

bool shm_transport::poll_one(consumer& ring, receiver& sink) noexcept {
    int count = 0;
    for (; count < k_messages_per_ring; ++count) {
        ring_line const* const first = ring.front();
        if (first == nullptr) break;
        m_order.before_delivery();
        sink.deliver(first->head, first->payload);
        ring.pop();
    }
    return count != 0;
}

bool shm_transport::poll(receiver& sink) noexcept {
    bool found = false;
    std::uint32_t const entered = own_entry().senders.count(); // U2
    if (TULLE_UNLIKELY(entered != m_known_senders)) find_senders(entered);
    for (rank const r : m_senders) found |= poll_one(m_in[r], sink);
    // acquire: pairs with session::declare_dead
    if (TULLE_UNLIKELY(m_session.head().deaths.load(std::memory_order_acquire) != m_deaths))
        found |= find_the_dead(sink);
    return found;
}

void shm_transport::find_senders(std::uint32_t count) noexcept {
    m_known_senders = count;
    m_senders.clear();
    for (rank r = 0; r < m_session.places(); ++r)
        if (own_entry().senders.has(r)) m_senders.push_back(r);
}

bool shm_transport::find_the_dead(receiver& sink) noexcept {
    std::uint32_t const before = m_deaths;
    for (rank r = 0; r < m_session.places(); ++r)
        if (r != m_here && !is_known_dead(r) &&
            m_session.entry(r).state.load(std::memory_order_acquire) == place_state::dead)
            report_death(r, sink);
    return m_deaths != before;
}

bool shm_transport::is_known_dead(rank place) noexcept {
    std::lock_guard const held(m_out[place]->lock);
    return m_out[place]->is_dead;
}

// What it has published is there as a whole.
void shm_transport::report_death(rank dead, receiver& sink) noexcept {
    while (poll_one(m_in[dead], sink)) {}
    {
        std::lock_guard const held(m_out[dead]->lock);
        m_out[dead]->is_dead = true;
    }
    m_staging.lose(dead);
    ++m_deaths;
    // relaxed: published by the state
    sink.place_died(dead, m_session.entry(dead).wait_status.load(std::memory_order_relaxed));
}

// Its name is where it is in the memory that all map, each at another address.
transport::staged shm_transport::stage(rank to, std::size_t bytes) noexcept {
    std::byte* const taken = m_staging.take(to, bytes);
    if (taken == nullptr) return {};
    return {taken, static_cast<std::uint64_t>(taken - m_session.memory().low())};
}

void shm_transport::unstage(rank /*to*/, std::uint64_t name) noexcept {
    m_staging.give_back(m_session.memory().low() + name);
}

std::byte const* shm_transport::find_staged(std::uint64_t name) const noexcept {
    return m_session.memory().low() + name;
}

std::byte* shm_transport::map_segments(std::size_t each) noexcept {
    if (!reserve_segments(each) || !m_session.grow_segments(m_segments.size())) return nullptr;
    return m_segments.fill_from(m_session.segments_descriptor(), 0, m_segments.size())
               ? m_segments.low()
               : nullptr;
}

int shm_transport::read(rank from, void* to, std::uint64_t address, std::size_t bytes) noexcept {
    // acquire: pairs with declare_dead, after which its number may be that of another process
    auto const is_dead = [&] {
        return m_session.entry(from).state.load(std::memory_order_acquire) == place_state::dead;
    };
    if (is_dead()) return ESRCH;
    // relaxed: stored before it sent anything
    pid_t const process = m_session.entry(from).process.load(std::memory_order_relaxed);
    auto* into = static_cast<std::byte*>(to);
    while (bytes != 0) {
        iovec const local{into, bytes};
        iovec const remote{reinterpret_cast<void*>(address),
                           bytes}; // NOLINT(performance-no-int-to-ptr): an address there, not here
        ssize_t const got = process_vm_readv(process, &local, 1, &remote, 1, 0);
        int const error = got < 0 ? errno : EFAULT;
        if (got <= 0) return is_dead() ? ESRCH : error;
        into += got;
        address += static_cast<std::uint64_t>(got);
        bytes -= static_cast<std::size_t>(got);
    }
    return is_dead() ? ESRCH : 0;
}

} // namespace tulle::net
