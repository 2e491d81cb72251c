// SPDX-License-Identifier: Apache-2.0
//
// A transport in front of another one, which counts what its place sends and what it gets.
#pragma once

#include "forwarding_transport.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

struct message_counts {
    std::atomic<std::uint64_t> sent{0}, received{0}; // messages
    std::atomic<std::uint64_t> bytes{0};             // sent: packets and what follows
};

// The counts stay.
class counting_transport final : public forwarding_transport {
public:
    counting_transport(std::unique_ptr<transport> over, message_counts& counts) noexcept
        : forwarding_transport(std::move(over)), m_counts(counts) {}

    // Counted before it can arrive: a thread that sees an effect of it sees it counted.
    [[nodiscard]] bool try_send(rank to, packet head, std::byte const* payload) noexcept override {
        // relaxed: the transport orders it
        m_counts.sent.fetch_add(1, std::memory_order_relaxed);
        // relaxed: the transport orders it
        m_counts.bytes.fetch_add(sizeof(packet) + head.size, std::memory_order_relaxed);
        if (forwarding_transport::try_send(to, head, payload)) return true;
        // relaxed: as above
        m_counts.sent.fetch_sub(1, std::memory_order_relaxed);
        // relaxed: as above
        m_counts.bytes.fetch_sub(sizeof(packet) + head.size, std::memory_order_relaxed);
        return false;
    }
    bool poll(tulle::net::receiver& to) noexcept override {
        counter in(m_counts.received, to);
        return forwarding_transport::poll(in);
    }

private:
    class counter final : public tulle::net::receiver {
    public:
        counter(std::atomic<std::uint64_t>& count, tulle::net::receiver& to) noexcept
            : m_count(count), m_to(to) {}
        void deliver(packet const& head, std::byte const* payload) noexcept override {
            m_count.fetch_add(1, std::memory_order_relaxed); // relaxed: as above
            m_to.deliver(head, payload);
        }
        void moved(rank peer, std::uint64_t cookie, bool was_sent) noexcept override {
            m_to.moved(peer, cookie, was_sent);
        }
        void place_died(rank which, int wait_status) noexcept override {
            m_to.place_died(which, wait_status);
        }

    private:
        std::atomic<std::uint64_t>& m_count;
        tulle::net::receiver& m_to;
    };

    message_counts& m_counts;
};
