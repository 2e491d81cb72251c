// SPDX-License-Identifier: Apache-2.0
// Places on several hosts: those of this host by memory that they share, the others over a network.
// While no other host takes part, and the network does not tell of deaths, nobody polls it.
#pragma once

#include "net/mpi_transport.hpp"
#include "net/shm_transport.hpp"
#include "net/transport.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace tulle::net {

class host_transport final : public transport {
public:
    // `near`: among the places of this host, whose numbers in `far` are `ranks`, in its order.
    // Throws std::bad_alloc.
    host_transport(std::unique_ptr<shm_transport> near, std::vector<rank> ranks,
                   std::unique_ptr<mpi_transport> far);

    [[nodiscard]] rank here() const noexcept override { return m_far->here(); }
    [[nodiscard]] rank count() const noexcept override { return m_far->count(); }
    [[nodiscard]] std::size_t most_bytes() const noexcept override;
    [[nodiscard]] std::size_t most_bytes_to(rank to) const noexcept override {
        return m_near_of[to] != k_elsewhere ? m_near->most_bytes() : m_far->most_bytes();
    }
    [[nodiscard]] bool try_send(rank to, packet head, std::byte const* payload) noexcept override;
    bool poll(receiver& sink) noexcept override;
    void begin_watch() noexcept override { m_near->begin_watch(); }
    void end_watch() noexcept override;
    void arm() noexcept override { m_near->arm(); }
    void sleep(std::uint64_t deadline) noexcept override;
    void wake() noexcept override { m_near->wake(); }
    [[nodiscard]] staged stage(rank to, std::size_t bytes) noexcept override;
    void unstage(rank to, std::uint64_t name) noexcept override {
        m_near->unstage(m_near_of[to], name);
    }
    [[nodiscard]] std::byte const* find_staged(std::uint64_t name) const noexcept override {
        return m_near->find_staged(name);
    }
    [[nodiscard]] std::byte* map_segments(std::size_t each) noexcept override; // those of this host
    [[nodiscard]] bool reaches(rank place) const noexcept override {
        return m_near_of[place] != k_elsewhere;
    }
    [[nodiscard]] std::span<std::byte> steal_area(rank place) noexcept override;
    [[nodiscard]] shared_arrivals* arrivals_of(rank place) noexcept override;
    [[nodiscard]] int read(rank from, void* to, std::uint64_t address,
                           std::size_t bytes) noexcept override;
    [[nodiscard]] std::uint32_t begin_receive(rank from, std::span<std::byte> to,
                                              std::uint64_t cookie) noexcept override;
    [[nodiscard]] bool begin_send(rank to, std::uint32_t number, std::span<std::byte const> from,
                                  std::uint64_t cookie) noexcept override {
        return m_far->begin_send(to, number, from, cookie);
    }
    void close() noexcept override { m_far->close(); }

private:
    static constexpr rank k_elsewhere = k_most_places;

    std::unique_ptr<shm_transport> m_near;
    std::unique_ptr<mpi_transport> m_far;
    std::vector<rank> m_ranks;   // of the places here
    std::vector<rank> m_near_of; // their numbers in m_near, by rank; k_elsewhere
    std::uint32_t m_polls = 0;
    bool m_is_alone; // nobody has to poll the network
};

} // namespace tulle::net
