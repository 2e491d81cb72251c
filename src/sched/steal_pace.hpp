// SPDX-License-Identifier: Apache-2.0
// How often a worker may steal ready threads. A steal costs the victim an interrupt and the thief
// some microseconds (deque/biased_lock.hpp); where the stolen threads are over sooner than that,
// both lose, and the victim is left alone for a while.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tulle::sched {

class steal_pace {
public:
    static constexpr std::uint64_t k_worthwhile_ns = 400; // of work, for each stolen thread
    // What a steal takes from thief and victim: less work than that is not worth it.
    static constexpr std::uint64_t k_cost_ns = 10'000;
    static constexpr std::uint64_t k_first_rest_ns = 25'000;
    static constexpr std::uint64_t k_longest_rest_ns = 400'000;

    // `count` threads were stolen at `now` (ns).
    void stole(std::uint64_t now, std::uint32_t count) noexcept {
        m_stolen_at = now;
        m_count = count;
    }
    // Whether to steal again. The first question after a steal is asked when what was stolen has
    // been run.
    [[nodiscard]] bool is_due(std::uint64_t now) noexcept {
        if (m_count != 0) judge(now);
        return now >= m_rests_until;
    }
    [[nodiscard]] std::uint64_t rests_until() const noexcept { return m_rests_until; }

private:
    void judge(std::uint64_t now) noexcept {
        bool const paid = now - m_stolen_at >= std::max(m_count * k_worthwhile_ns, k_cost_ns);
        m_rest = paid ? 0 : std::clamp(2 * m_rest, k_first_rest_ns, k_longest_rest_ns);
        m_rests_until = now + m_rest;
        m_count = 0;
    }

    std::uint64_t m_stolen_at = 0;
    std::uint64_t m_rest = 0;
    std::uint64_t m_rests_until = 0;
    std::uint32_t m_count = 0;
};

} // namespace tulle::sched
