// SPDX-License-Identifier: Apache-2.0
// A sleep below a network that cannot wake anybody: short sleeps at a doorbell, and a look at the
// network between them. They grow up to two milliseconds, so that a place without work uses hardly
// any processor time. While the process computes they stay short, as others may wait for an answer;
// the looks are then a small part of what it uses.
#pragma once

#include "os/clock.hpp"

#include <tulle/detail/machine.hpp>

#include <algorithm>
#include <cstdint>

namespace tulle::net {

// When to look again.
class looks {
public:
    static constexpr std::uint64_t k_spin_ns = 20'000; // looks without sleeps, at first
    static constexpr std::uint64_t k_first_ns = 20'000;
    static constexpr std::uint64_t k_last_ns = 2'000'000;
    static constexpr std::uint64_t k_computing_ns = 80'000;

    explicit looks(std::uint64_t now) noexcept : m_began(now), m_looked(now) {}

    // The time of the next look; `now` or earlier: at once. `used`: the processor time of the
    // process so far.
    [[nodiscard]] std::uint64_t next(std::uint64_t now, std::uint64_t used) noexcept {
        if (now - m_began < k_spin_ns) return now;
        bool const computes = m_used != 0 && used - m_used > (now - m_looked) / 2;
        m_looked = now;
        m_used = used;
        m_pause =
            computes ? k_computing_ns : std::min(std::max(2 * m_pause, k_first_ns), k_last_ns);
        return now + m_pause;
    }

private:
    std::uint64_t m_began;
    std::uint64_t m_looked;
    std::uint64_t m_used = 0;
    std::uint64_t m_pause = 0;
};

// By who has armed the bell. Returns when it rings, at the deadline, or when `has_message()` while
// nobody watches. `before_sleep()`: then, too.
template <class Bell, class F, class G>
void sleep_between_looks(Bell& bell, std::uint64_t deadline, F has_message,
                         G before_sleep) noexcept {
    looks when(os::monotonic_ns());
    while (!bell.has_rung()) {
        if (!bell.is_watched() && has_message()) return;
        std::uint64_t const now = os::monotonic_ns();
        if (now >= deadline) return;
        std::uint64_t const next = std::min(when.next(now, os::process_time_ns()), deadline);
        if (next <= now) {
            detail::native_machine::pause();
            continue;
        }
        if (!bell.is_watched()) before_sleep();
        bell.sleep(next);
    }
}

} // namespace tulle::net
