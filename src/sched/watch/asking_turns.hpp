// SPDX-License-Identifier: Apache-2.0
// Of which workers the watcher asks the system in one round. It keeps a file open for the first
// ones, as a program may have few descriptors. Of any other one it opens a file anew, which takes
// as long as many reads, so that it does so for a limited number in each round, of whom others come
// first in the next one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tulle::sched {

class asking_turns {
public:
    static constexpr std::size_t k_most_kept = 32;
    // In one round: that have not been found in the kernel, of which each may keep threads waiting,
    // and of which that is to be seen again.
    static constexpr std::size_t k_most_new = 64, k_most_again = 32;
    static constexpr std::uint64_t k_rounds_between = 16; // for those

    void begin_round(std::size_t workers) noexcept {
        ++m_round;
        m_new = m_again = 0;
        m_begin = workers == 0 ? 0 : m_round * k_most_again % workers;
    }
    // The worker that is the k-th one of this round, of so many.
    [[nodiscard]] std::size_t worker_at(std::size_t k, std::size_t workers) const noexcept {
        return (m_begin + k) % workers;
    }
    // Whether the system may be asked of this worker, of which no file is open.
    [[nodiscard]] bool may_open(std::size_t index, bool was_in_kernel) noexcept {
        if (index < k_most_kept) return true;
        if (!was_in_kernel) return m_new < k_most_new && ++m_new != 0;
        bool const is_due = (m_round + index) % k_rounds_between == 0;
        return is_due && m_again < k_most_again && ++m_again != 0;
    }

private:
    std::uint64_t m_round = 0;
    std::size_t m_begin = 0, m_new = 0, m_again = 0;
};

} // namespace tulle::sched
