// SPDX-License-Identifier: Apache-2.0
// Calls on file descriptors by threads of pthread_create: a call that would wait in the kernel
// waits in the reactor first (io/reactor.hpp). OS threads wait in the kernel as ever.
#pragma once

#include "compat/pthread/libc.hpp"
#include "compat/pthread/thread.hpp"
#include "io/reactor.hpp"

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
