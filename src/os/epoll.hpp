// SPDX-License-Identifier: Apache-2.0
// epoll(7), level-triggered and one event at a time: after a descriptor has been reported it is
// silent until it is armed again. Any OS thread may call any operation at any time.
#pragma once

#include <cstdint>
#include <span>

#include <sys/epoll.h>

namespace tulle::os {

class epoll {
public:
    epoll() noexcept = default;
    epoll(epoll const&) = delete;
    epoll& operator=(epoll const&) = delete;
    ~epoll() { close(); }

    // 0 or a positive errno.
    [[nodiscard]] int open() noexcept;
    void close() noexcept;
    [[nodiscard]] int number() const noexcept { return m_file; }

    // `descriptor` is reported once, with `tag`, as soon as one of `events` (EPOLLIN and so on) is
    // true of it, at once if one is already. 0 or a positive errno; EPERM: it is of a kind that
    // cannot be waited for, such as a regular file.
    [[nodiscard]] int arm(int descriptor, std::uint32_t events, void* tag) noexcept;
    // How many events have been written to `out`; a `timeout_ms` of 0 does not wait, -1 is for
    // ever. 0 also after a signal.
    [[nodiscard]] int wait(std::span<epoll_event> out, int timeout_ms) noexcept;

private:
    int m_file = -1;
};

} // namespace tulle::os
