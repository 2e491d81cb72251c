// SPDX-License-Identifier: Apache-2.0
// Whether other qthreads have had the caller's worker, so that the caller comes back late from a
// short sleep. If the OS thread has computed meanwhile they have. Else they have been blocked in
// the kernel, or other programs have had the processors. That says little, and may go on for ever,
// so it counts a few times until something gets on.
// Nothing either is said by a caller that comes back on another worker, as the first qthread may
// where its own is stuck: that one's OS thread has computed for others before. Who has computed on
// the first worker meanwhile is seen there.
#pragma once

#include <chrono>

namespace tulle::compat {

// `Own` tells of the caller: now(), the processor time of its OS thread so far (computed()), and
// the index of its worker (worker()).
template <class Own> class lateness {
public:
    static constexpr int k_most_late = 10;

    // In time is who comes back so soon.
    explicit lateness(std::chrono::nanoseconds in_time) noexcept : m_in_time(in_time) {}

    void begin() noexcept {
        m_begin = Own::now();
        m_worker = Own::worker();
        m_computed = Own::computed();
    }
    [[nodiscard]] bool is_telling() noexcept {
        if (Own::now() - m_begin <= m_in_time) return false;
        bool const is_same = Own::worker() == m_worker;
        return (is_same && Own::computed() - m_computed > m_in_time) || m_silent++ < k_most_late;
    }
    void something_gets_on() noexcept { m_silent = 0; }

private:
    std::chrono::nanoseconds m_in_time;
    std::chrono::steady_clock::time_point m_begin{};
    std::chrono::nanoseconds m_computed{};
    int m_worker = -1;
    int m_silent = 0;
};

} // namespace tulle::compat
