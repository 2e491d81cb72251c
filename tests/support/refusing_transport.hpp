// SPDX-License-Identifier: Apache-2.0
//
// A transport in front of another one, which refuses what the contract allows it to refuse, as
// often as it is told and when a seed says so: sends for want of room, reading of other places'
// memory, staging, and the mapping of global memory.
#pragma once

#include "base/rng.hpp"
#include "forwarding_transport.hpp"

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

class refusing_transport final : public forwarding_transport {
public:
    refusing_transport(std::unique_ptr<transport> over, refusals const& chosen) noexcept
        : forwarding_transport(std::move(over)), m_chosen(chosen) {}

    [[nodiscard]] bool try_send(rank to, packet head, std::byte const* payload) noexcept override {
        return !refuses(m_chosen.sends) && forwarding_transport::try_send(to, head, payload);
    }
    [[nodiscard]] staged stage(rank to, std::size_t bytes) noexcept override {
        staged const made =
            refuses(m_chosen.stages) ? staged{} : forwarding_transport::stage(to, bytes);
        if (made.bytes != nullptr && m_chosen.staged != nullptr) ++*m_chosen.staged;
        return made;
    }
    void unstage(rank to, std::uint64_t name) noexcept override {
        forwarding_transport::unstage(to, name);
        if (m_chosen.staged != nullptr) --*m_chosen.staged;
    }
    [[nodiscard]] std::byte* map_segments(std::size_t each) noexcept override {
        bool const is_chosen =
            m_chosen.unmapped < 0 || m_chosen.unmapped == static_cast<int>(here());
        if (m_chosen.mapping == 0 || !is_chosen) return forwarding_transport::map_segments(each);
        errno = m_chosen.mapping;
        return nullptr;
    }
    [[nodiscard]] int read(rank from, void* to, std::uint64_t address,
                           std::size_t bytes) noexcept override {
        return refuses(m_chosen.reads) ? EPERM
                                       : forwarding_transport::read(from, to, address, bytes);
    }

private:
    // By any OS thread: the seed decides about the n-th question, whoever asks it.
    [[nodiscard]] bool refuses(std::uint32_t of_a_hundred) noexcept {
        if (of_a_hundred == 0) return false;
        // relaxed: a number
        std::uint64_t const number = m_asked.fetch_add(1, std::memory_order_relaxed);
        return tulle::base::rng(m_chosen.seed + number * 0x9E3779B97F4A7C15U).below(100) <
               of_a_hundred;
    }

    refusals m_chosen;
    std::atomic<std::uint64_t> m_asked{0};
};
