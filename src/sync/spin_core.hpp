// SPDX-License-Identifier: Apache-2.0
// How a thread waits for a spin lock: pauses that get longer, and between them the other threads of
// its worker. A thread that has waited for Parking::k_longest_wait_ns is counted as starving, and
// newcomers stand back.
#pragma once

#include "sync/waits.hpp"

#include <tulle/detail/spin_front.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tulle::sync {

template <class Parking> class spin_core {
    using machine = typename Parking::machine;
    using front_type = detail::basic_spin_front<typename Parking::front_machine>;

public:
    explicit spin_core(front_type& front) noexcept : m_front(front) {}

    // False: not before the limit was reached.
    [[nodiscard]] bool lock_until(limit<Parking> until) noexcept {
        if (spin()) return true;
        bool const locked = wait(until);
        // relaxed: a hint for others
        if (m_starves) m_front.starving.fetch_sub(1, std::memory_order_relaxed);
        return locked;
    }

private:
    [[nodiscard]] bool wait(limit<Parking> until) noexcept {
        std::uint64_t const since = Parking::now();
        while (!until.is_over()) {
            Parking::relax();
            if (spin()) return true;
            if (!m_starves && Parking::now() - since >= Parking::k_longest_wait_ns) starve();
        }
        return false;
    }
    void starve() noexcept {
        m_starves = true;
        m_front.starving.fetch_add(1, std::memory_order_relaxed); // relaxed: as above
    }
    [[nodiscard]] bool spin() noexcept {
        if (Parking::is_deterministic()) return take(); // time does not pass
        std::uint32_t pauses = 1;
        for (int round = 0; round < k_rounds; ++round) {
            if (take()) return true;
            for (std::uint32_t k = 0; k < pauses; ++k) machine::pause();
            pauses = std::min(2 * pauses, Parking::k_most_pauses);
        }
        return false;
    }
    // relaxed: hints, which spare the holder's cache line.
    [[nodiscard]] bool take() noexcept {
        if (m_front.held.load(std::memory_order_relaxed) != 0) return false;
        return (m_starves || m_front.starving.load(std::memory_order_relaxed) == 0) &&
               m_front.take();
    }

    static constexpr int k_rounds = 6;

    front_type& m_front;
    bool m_starves = false;
};

} // namespace tulle::sync
