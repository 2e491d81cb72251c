// SPDX-License-Identifier: Apache-2.0
// A sleep under a network that cannot wake anybody: short sleeps at a doorbell, and a poll of the
// network between them. The sleeps grow up to two milliseconds, so that a place without work uses
// hardly any processor time. While the process computes they stay short, as others may wait for an
// answer; the polls are then a small part of the time that it uses.
#pragma once

#include "os/clock.hpp"

#include <tulle/detail/machine.hpp>

#include <algorithm>
#include <cstdint>

namespace tulle::net {

// When to poll again.
class poll_pauses {
public:
    static constexpr std::uint64_t k_spin_ns = 20'000; // polls without sleeps, at first
    static constexpr std::uint64_t k_first_ns = 20'000;
    static constexpr std::uint64_t k_last_ns = 2'000'000;
    static constexpr std::uint64_t k_computing_ns = 80'000;

    explicit poll_pauses(std::uint64_t now) noexcept : m_began(now), m_polled(now) {}

    // The time of the next poll; `now` or earlier: at once. `used`: the processor time of the
    // process so far.
    [[nodiscard]] std::uint64_t next(std::uint64_t now, std::uint64_t used) noexcept {
        if (now - m_began < k_spin_ns) return now;
        bool const computes = m_used != 0 && used - m_used > (now - m_polled) / 2;
        m_polled = now;
        m_used = used;
        m_pause =
            computes ? k_computing_ns : std::min(std::max(2 * m_pause, k_first_ns), k_last_ns);
        return now + m_pause;
    }

private:
    std::uint64_t m_began;
    std::uint64_t m_polled;
    std::uint64_t m_used = 0;
    std::uint64_t m_pause = 0;
};

// The thread that has armed the doorbell calls this. It returns when the doorbell rings, at the
// deadline, or when `has_message()` says so while nobody watches. Nobody watching, it calls
// `before_sleep()` before each sleep.
template <class Doorbell, class F, class G>
void sleep_between_polls(Doorbell& doorbell, std::uint64_t deadline, F has_message,
                         G before_sleep) noexcept {
    poll_pauses pauses(os::monotonic_ns());
    while (!doorbell.has_rung()) {
        if (!doorbell.is_watched() && has_message()) return;
        std::uint64_t const now = os::monotonic_ns();
        if (now >= deadline) return;
        std::uint64_t const next = std::min(pauses.next(now, os::process_time_ns()), deadline);
        if (next <= now) {
            detail::native_machine::pause();
            continue;
        }
        if (!doorbell.is_watched()) before_sleep();
        doorbell.sleep(next);
    }
}

} // namespace tulle::net
