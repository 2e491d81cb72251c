// SPDX-License-Identifier: Apache-2.0
//
// A transport in front of another one, which counts what its place sends and what it gets.
#pragma once

#include "net/transport.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

struct message_counts {
    std::atomic<std::uint64_t> sent{0}, received{0}; // messages
    std::atomic<std::uint64_t> bytes{0};             // sent: packets and what follows
};

// The counts stay.
class counting_transport final : public tulle::net::transport {
public:
    using rank = tulle::net::rank;
    using packet = tulle::net::packet;

    counting_transport(std::unique_ptr<transport> over, message_counts& counts) noexcept
        : m_over(std::move(over)), m_counts(counts) {}

    [[nodiscard]] rank here() const noexcept override { return m_over->here(); }
    [[nodiscard]] rank count() const noexcept override { return m_over->count(); }
    [[nodiscard]] std::size_t most_bytes() const noexcept override { return m_over->most_bytes(); }
    [[nodiscard]] std::size_t most_bytes_to(rank to) const noexcept override {
        return m_over->most_bytes_to(to);
    }
    // Counted before it can arrive: a thread that sees an effect of it sees it counted.
    [[nodiscard]] bool try_send(rank to, packet head, std::byte const* payload) noexcept override {
        // relaxed: the transport orders it
        m_counts.sent.fetch_add(1, std::memory_order_relaxed);
        // relaxed: the transport orders it
        m_counts.bytes.fetch_add(sizeof(packet) + head.size, std::memory_order_relaxed);
        if (m_over->try_send(to, head, payload)) return true;
        // relaxed: as above
        m_counts.sent.fetch_sub(1, std::memory_order_relaxed);
        // relaxed: as above
        m_counts.bytes.fetch_sub(sizeof(packet) + head.size, std::memory_order_relaxed);
        return false;
    }
    bool poll(tulle::net::receiver& to) noexcept override {
        counter in(m_counts.received, to);
        return m_over->poll(in);
    }
    void begin_watch() noexcept override { m_over->begin_watch(); }
    void end_watch() noexcept override { m_over->end_watch(); }
    void arm() noexcept override { m_over->arm(); }
    void sleep(std::uint64_t deadline) noexcept override { m_over->sleep(deadline); }
    void wake() noexcept override { m_over->wake(); }
    [[nodiscard]] staged stage(rank to, std::size_t bytes) noexcept override {
        return m_over->stage(to, bytes);
    }
    void unstage(rank to, std::uint64_t name) noexcept override { m_over->unstage(to, name); }
    [[nodiscard]] std::byte const* find_staged(std::uint64_t name) const noexcept override {
        return m_over->find_staged(name);
    }
    [[nodiscard]] std::byte* map_segments(std::size_t each) noexcept override {
        return m_over->map_segments(each);
    }
    [[nodiscard]] bool reaches(rank place) const noexcept override {
        return m_over->reaches(place);
    }
    [[nodiscard]] tulle::net::shared_arrivals* arrivals_of(rank place) noexcept override {
        return m_over->arrivals_of(place);
    }
    [[nodiscard]] int read(rank from, void* to, std::uint64_t address,
                           std::size_t bytes) noexcept override {
        return m_over->read(from, to, address, bytes);
    }
    void close() noexcept override { m_over->close(); }

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

    std::unique_ptr<transport> m_over;
    message_counts& m_counts;
};
