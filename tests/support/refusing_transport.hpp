// SPDX-License-Identifier: Apache-2.0
//
// A transport in front of another one, which refuses what the contract allows it to refuse, as
// often as it is told and when a seed says so: sends for want of room, reading of other places'
// memory, staging, and the mapping of global memory.
#pragma once

#include "base/rng.hpp"
#include "net/transport.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <utility>

struct refusals {
    std::uint64_t seed = 0;
    std::uint32_t sends = 0, reads = 0, stages = 0; // of a hundred
    int mapping = 0;                                // errno with which map_segments() fails
    int unmapped = -1;                              // at this place; -1: at all
    // Counts the payloads that are staged at the moment.
    std::atomic<int>* staged = nullptr;
};

class refusing_transport final : public tulle::net::transport {
public:
    using rank = tulle::net::rank;
    using packet = tulle::net::packet;

    refusing_transport(std::unique_ptr<transport> over, refusals const& chosen) noexcept
        : m_over(std::move(over)), m_chosen(chosen) {}

    [[nodiscard]] rank here() const noexcept override { return m_over->here(); }
    [[nodiscard]] rank count() const noexcept override { return m_over->count(); }
    [[nodiscard]] std::size_t most_bytes() const noexcept override { return m_over->most_bytes(); }
    [[nodiscard]] std::size_t most_bytes_to(rank to) const noexcept override {
        return m_over->most_bytes_to(to);
    }
    [[nodiscard]] bool try_send(rank to, packet head, std::byte const* payload) noexcept override {
        return !refuses(m_chosen.sends) && m_over->try_send(to, head, payload);
    }
    bool poll(tulle::net::receiver& to) noexcept override { return m_over->poll(to); }
    void begin_watch() noexcept override { m_over->begin_watch(); }
    void end_watch() noexcept override { m_over->end_watch(); }
    void arm() noexcept override { m_over->arm(); }
    void sleep(std::uint64_t deadline) noexcept override { m_over->sleep(deadline); }
    void wake() noexcept override { m_over->wake(); }
    [[nodiscard]] staged stage(rank to, std::size_t bytes) noexcept override {
        staged const made = refuses(m_chosen.stages) ? staged{} : m_over->stage(to, bytes);
        if (made.bytes != nullptr && m_chosen.staged != nullptr) ++*m_chosen.staged;
        return made;
    }
    void unstage(rank to, std::uint64_t name) noexcept override {
        m_over->unstage(to, name);
        if (m_chosen.staged != nullptr) --*m_chosen.staged;
    }
    [[nodiscard]] std::byte const* find_staged(std::uint64_t name) const noexcept override {
        return m_over->find_staged(name);
    }
    [[nodiscard]] std::byte* map_segments(std::size_t each) noexcept override {
        bool const is_chosen =
            m_chosen.unmapped < 0 || m_chosen.unmapped == static_cast<int>(here());
        if (m_chosen.mapping == 0 || !is_chosen) return m_over->map_segments(each);
        errno = m_chosen.mapping;
        return nullptr;
    }
    [[nodiscard]] bool reaches(rank place) const noexcept override {
        return m_over->reaches(place);
    }
    [[nodiscard]] tulle::net::shared_arrivals* arrivals_of(rank place) noexcept override {
        return m_over->arrivals_of(place);
    }
    [[nodiscard]] int read(rank from, void* to, std::uint64_t address,
                           std::size_t bytes) noexcept override {
        return refuses(m_chosen.reads) ? EPERM : m_over->read(from, to, address, bytes);
    }
    void close() noexcept override { m_over->close(); }

private:
    // By any OS thread: the seed decides about the n-th question, whoever asks it.
    [[nodiscard]] bool refuses(std::uint32_t of_a_hundred) noexcept {
        if (of_a_hundred == 0) return false;
        // relaxed: a number
        std::uint64_t const number = m_asked.fetch_add(1, std::memory_order_relaxed);
        return tulle::base::rng(m_chosen.seed + number * 0x9E3779B97F4A7C15U).below(100) <
               of_a_hundred;
    }

    std::unique_ptr<transport> m_over;
    refusals m_chosen;
    std::atomic<std::uint64_t> m_asked{0};
};
