// SPDX-License-Identifier: Apache-2.0
// Calls on file descriptors by threads of pthread_create: a call that would wait in the kernel
// waits in the reactor first (io/reactor.hpp). OS threads wait in the kernel as ever.
#pragma once

#include "compat/pthread/libc.hpp"
#include "compat/pthread/thread.hpp"
#include "io/reactor.hpp"
#include "os/clock.hpp"
#include "wait/limit_wait.hpp"

#include <algorithm>

namespace tulle::posix {

using io::direction;

// Closes a descriptor that nobody else knows; negative: there is none.
class closed_at_end {
public:
    explicit closed_at_end(int number) noexcept : m_number(number) {}
    closed_at_end(closed_at_end const&) = delete;
    closed_at_end& operator=(closed_at_end const&) = delete;
    ~closed_at_end() {
        kept_errno const kept;
        if (m_number >= 0) TULLE_LIBC(close)(m_number);
    }

private:
    int m_number;
};

// Waits for something that nobody tells of: longer and longer.
class growing_pause {
public:
    // ECANCELED: the thread is to look why.
    int wait(thread& t) noexcept {
        kept_errno const kept;
        std::uint64_t const next = os::monotonic_ns() + m_next_ns;
        m_next_ns = std::min(2 * m_next_ns, k_longest_ns);
        auto const how = wait::wait_for_limit<parking>({wait::wait_kind::sleep, nullptr},
                                                       interruptible(&t, next));
        return how == wait::outcome::cancelled ? ECANCELED : 0;
    }

private:
    static constexpr std::uint64_t k_first_ns = 20'000, k_longest_ns = 5'000'000;

    std::uint64_t m_next_ns = k_first_ns;
};

// 0: the descriptor may be ready: try again. Else an errno: the caller is to make the call that may
// block if it is EPERM, EAGAIN stands for a time that SO_RCVTIMEO or SO_SNDTIMEO has set, and EINTR
// for a handler that ends the call. A cancellation does not return.
// `seen`: what look said before the try.
[[nodiscard]] int wait_for(thread& t, int number, direction way, io::event_count seen);
[[nodiscard]] io::event_count look(int number, direction way) noexcept;
[[nodiscard]] bool is_ready(int number, direction way) noexcept;
// O_NONBLOCK is set, or it is no descriptor.
[[nodiscard]] bool never_waits(int number) noexcept;

} // namespace tulle::posix
