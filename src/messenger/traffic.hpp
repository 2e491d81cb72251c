// SPDX-License-Identifier: Apache-2.0
// How long it is worth polling for the next message before a sleep: being woken takes longer than
// many answers do. Where messages come one soon after the other, the next one is expected as soon
// again, give or take; otherwise nothing is expected, so that a place that waits uses no processor.
// A worker that polls and finds nothing yields the processor where others may need it to send.
// Beside programs that only compute a yield costs a turn of each of them, while a worker that
// sleeps gets the processor soon after it has been woken. So after a yield that took long no worker
// yields, or polls for long, for a while.
#pragma once

#include "os/clock.hpp"
#include "os/machine.hpp"

#include <tulle/detail/attributes.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace tulle::messenger {

class traffic {
public:
    // The polling thread calls this, one at a time.
    void polled(bool found) noexcept {
        if (found) have_come(1);
    }
    // So many have come since the last call, some of which may not have been messages; messages are
    // to come in their place. The polling thread calls this, too.
    void have_come(std::uint64_t count) noexcept {
        std::uint64_t const now = os::monotonic_ns();
        std::uint64_t const gap = std::min((now - m_last) / count, k_far_apart_ns);
        m_last = now;
        // Messages come in bursts, and what counts is the time between these.
        m_gap = gap >= m_gap ? gap : m_gap - (m_gap - gap) / 8;
        // relaxed: a hint
        m_until.store(m_gap < k_worth_waiting_ns ? now + k_patience * m_gap : 0,
                      std::memory_order_relaxed);
    }
    // Polling is worth while until then: not at all where others wait for the processor.
    [[nodiscard]] std::uint64_t expects_until() const noexcept {
        return m_shares_processors || yields_are_slow() ? 0 : expected_until();
    }
    [[nodiscard]] bool is_dense() const noexcept { return os::monotonic_ns() < expected_until(); }

    // Called before anybody polls.
    void share_processors() noexcept { m_shares_processors = true; }
    [[nodiscard]] bool shares_processors() const noexcept { return m_shares_processors; }
    void found_nothing() noexcept {
        if (m_shares_processors) let_others_run();
    }
    void let_others_run() noexcept {
        if (yields_are_slow()) return;
        std::uint64_t const begin = os::monotonic_ns();
        os::machine::yield_processor();
        std::uint64_t const end = os::monotonic_ns();
        have_yielded(end - begin, end);
    }
    // Called after a yield that took so long, until `now`.
    void have_yielded(std::uint64_t took_ns, std::uint64_t now) noexcept {
        if (took_ns >= k_slow_yield_ns)
            // relaxed: a hint
            m_yields_again_at.store(now + k_rest_of_yields * took_ns, std::memory_order_relaxed);
    }
    [[nodiscard]] bool yields_are_slow() const noexcept {
        // relaxed: as above
        std::uint64_t const until = m_yields_again_at.load(std::memory_order_relaxed);
        return TULLE_UNLIKELY(until != 0) && os::monotonic_ns() < until;
    }

private:
    // It is less than any time slice, and more than hundreds of places that poll take.
    static constexpr std::uint64_t k_slow_yield_ns = 500'000;
    // By this factor a rest is longer than the yield, so that slow yields take a hundredth of the
    // time.
    static constexpr std::uint64_t k_rest_of_yields = 100;
    static constexpr std::uint64_t k_far_apart_ns = 2'000'000;
    static constexpr std::uint64_t k_worth_waiting_ns = 400'000;
    static constexpr std::uint64_t k_patience = 2;

    // relaxed: as above
    [[nodiscard]] std::uint64_t expected_until() const noexcept {
        return m_until.load(std::memory_order_relaxed);
    }

    std::uint64_t m_last = 0;
    // The longest gap between bursts of late; it is forgotten by and by.
    std::uint64_t m_gap = k_far_apart_ns;
    std::atomic<std::uint64_t> m_until{0};
    std::atomic<std::uint64_t> m_yields_again_at{0};
    bool m_shares_processors = false;
};

} // namespace tulle::messenger
