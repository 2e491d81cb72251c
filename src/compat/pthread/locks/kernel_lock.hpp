// SPDX-License-Identifier: Apache-2.0
// Waits of threads of pthread_create for locks of which only the kernel tells when another process
// has let go of them. A few threads wait there, each with its worker, and another worker runs for
// each of these; the lock may be held by a thread that still needs a worker, so others look again
// after a while, or when a thread of this process has let go of the lock. Who waits in the kernel
// comes back now and then, for handlers of signals.
#pragma once

#include "compat/pthread/locks/lock_wait.hpp"
#include "os/clock.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

namespace tulle::posix {

// Of the waits in the kernel, for all such locks. relaxed: nothing is read on its strength.
class place_in_kernel {
public:
    place_in_kernel() noexcept : m_may(s_count.fetch_add(1, std::memory_order_relaxed) < k_most) {}
    place_in_kernel(place_in_kernel const&) = delete;
    place_in_kernel& operator=(place_in_kernel const&) = delete;
    ~place_in_kernel() { s_count.fetch_sub(1, std::memory_order_relaxed); }
    [[nodiscard]] bool is_taken() const noexcept { return m_may; }

    static void forget_others() noexcept { s_count.store(0, std::memory_order_relaxed); }

private:
    static constexpr int k_most = 8;
    static inline constinit std::atomic<int> s_count{0};

    bool m_may;
};

// One wait, until `deadline`.
class kernel_lock_wait {
public:
    explicit kernel_lock_wait(std::uint64_t deadline) noexcept : m_deadline(deadline) {}

    // The word that changes when the lock is free, and was `seen` before it was tried.
    // `in_kernel(limit)` waits there until then: ETIMEDOUT, or what ends the call, also 0. EBUSY:
    // the lock is to be tried again.
    template <class Wait> int once(futex_word& word, std::uint32_t seen, Wait in_kernel) {
        std::uint64_t const now = os::monotonic_ns();
        if (now >= m_deadline) return ETIMEDOUT;
        if (!m_place.is_taken()) {
            wait_for_lock(word, seen, std::min(now + m_pause_ns, m_deadline));
            m_pause_ns = std::min(2 * m_pause_ns, k_longest_pause_ns);
            return EBUSY;
        }
        int const how = in_kernel(std::min(now + k_in_kernel_ns, m_deadline));
        // EBUSY: woken, perhaps by the signal.
        if (how != ETIMEDOUT && how != EBUSY) return how;
        look_for_signals();
        return EBUSY;
    }

private:
    static constexpr std::uint64_t k_first_pause_ns = 20'000, k_longest_pause_ns = 5'000'000;
    static constexpr std::uint64_t k_in_kernel_ns = 20'000'000;

    place_in_kernel m_place;
    std::uint64_t m_deadline;
    std::uint64_t m_pause_ns = k_first_pause_ns;
};

[[nodiscard]] inline timespec as_time(std::uint64_t ns) noexcept {
    return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

// Of a lock of the C library: `attempt()` fails with EBUSY, `in_kernel(timespec const*)` waits
// until that time of the monotonic clock.
template <class Attempt, class Wait>
int lock_of_libc(futex_word& word, std::uint64_t deadline, Attempt attempt, Wait in_kernel) {
    kernel_lock_wait wait(deadline);
    for (;;) {
        std::uint32_t const seen = word.load(std::memory_order_relaxed); // relaxed: it is tried
        if (int const error = attempt(); error != EBUSY) return error;
        int const how = wait.once(word, seen, [&](std::uint64_t end) {
            timespec const until = as_time(end);
            return in_kernel(&until);
        });
        if (how != EBUSY) return how;
    }
}

} // namespace tulle::posix
