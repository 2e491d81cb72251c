// SPDX-License-Identifier: Apache-2.0
//
// A transport in front of another one, to which it hands everything on: a base for those that do
// something else in some of the functions.
#pragma once

#include "net/transport.hpp"

#include <cstdint>
#include <memory>
#include <utility>

class forwarding_transport : public tulle::net::transport {
public:
    using rank = tulle::net::rank;
    using packet = tulle::net::packet;

    explicit forwarding_transport(std::unique_ptr<transport> over) noexcept
        : m_over(std::move(over)) {}

    [[nodiscard]] rank here() const noexcept override { return m_over->here(); }
    [[nodiscard]] rank count() const noexcept override { return m_over->count(); }
    [[nodiscard]] std::size_t most_bytes() const noexcept override { return m_over->most_bytes(); }
    [[nodiscard]] std::size_t most_bytes_to(rank to) const noexcept override {
        return m_over->most_bytes_to(to);
    }
    [[nodiscard]] bool try_send(rank to, packet head, std::byte const* payload) noexcept override {
        return m_over->try_send(to, head, payload);
    }
    bool poll(tulle::net::receiver& to) noexcept override { return m_over->poll(to); }
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
    std::unique_ptr<transport> m_over;
};
