// SPDX-License-Identifier: Apache-2.0
#include "net/shm_transport.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>

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
std::byte* bytes_behind(ring_line& first) { return reinterpret_cast<std::byte*>(&first) + offsetof(ring_line, payload); }

} // namespace

shm_transport::shm_transport(session of, rank here) : m_session(std::move(of)), m_here(here) {
    m_most_bytes = std::min(k_most_eager, m_session.lines() / 4 * sizeof(ring_line));
    for (rank r = 0; r < m_session.places(); ++r) {
        m_out.push_back(std::make_unique<outgoing>(producer(m_session.control(m_here, r), m_session.ring(m_here, r), m_session.lines())));
        m_in.emplace_back(m_session.control(r, m_here), m_session.ring(r, m_here), m_session.lines());
    }
}

bool shm_transport::try_send(rank to, packet head, std::byte const* payload) noexcept {
    TULLE_ASSERT(head.size <= m_most_bytes, "a message of %u bytes is above the limit of %zu", head.size, m_most_bytes);
    std::uint32_t const lines = lines_for(head.size);
    head.from = static_cast<std::uint16_t>(m_here);
    m_order.before_send();
    {
        outgoing& out = *m_out[to];
        std::lock_guard const held(out.lock);
        ring_line* const first = out.ring.reserve(lines);
        if (first == nullptr) return false;
        first->head = head;
        if (head.size != 0) std::memcpy(bytes_behind(*first), payload, head.size);
        out.ring.publish(lines);
    }
    m_session.entry(to).bell.ring();
    return true;
}

bool shm_transport::poll_one(consumer& ring, receiver& to) noexcept {
    int count = 0;
    for (; count < k_messages_per_ring; ++count) {
        ring_line const* const first = ring.front();
        if (first == nullptr) break;
        m_order.before_delivery();
        to.deliver(first->head, first->payload);
        ring.pop();
    }
    return count != 0;
}

bool shm_transport::poll(receiver& to) noexcept {
    bool found = false;
    for (consumer& ring : m_in) found |= poll_one(ring, to);
    return found;
}

int shm_transport::read(rank from, void* to, std::uint64_t address, std::size_t bytes) noexcept {
    pid_t const process = m_session.entry(from).process.load(std::memory_order_relaxed); // relaxed: stored before it sent anything
    auto* into = static_cast<std::byte*>(to);
    while (bytes != 0) {
        iovec const local{into, bytes};
        iovec const remote{reinterpret_cast<void*>(address), bytes}; // NOLINT(performance-no-int-to-ptr): an address there, not here
        ssize_t const got = process_vm_readv(process, &local, 1, &remote, 1, 0);
        if (got <= 0) return got < 0 ? errno : EFAULT;
        into += got;
        address += static_cast<std::uint64_t>(got);
        bytes -= static_cast<std::size_t>(got);
    }
    return 0;
}

} // namespace tulle::net
