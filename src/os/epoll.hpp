// SPDX-License-Identifier: Apache-2.0
// epoll(7). Any OS thread may call any operation at any time.
#pragma once

#include "os/clock.hpp"
#include "os/private_descriptor.hpp"

#include <cstdint>
#include <span>

#include <sys/epoll.h>

namespace tulle::os {

class epoll {
public:
    epoll() noexcept = default;
    epoll(epoll const&) = delete;
    epoll& operator=(epoll const&) = delete;

    // 0 or a positive errno.
    [[nodiscard]] int open() noexcept;
    void close() noexcept { m_file.close(); }
    [[nodiscard]] int number() const noexcept { return m_file.number(); }

    // From now on `descriptor` is reported, with `tag`, when one of `events` comes true of it
    // (EPOLLIN and so on; EPOLLET and EPOLLONESHOT say how often), and at once if one is true
    // already. 0 or a positive errno; EPERM: it is of a kind that cannot be waited for, such as a
    // regular file.
    // The system knows it by its number and its open file: EEXIST from add() says that this very
    // file has been added under this number, and ENOENT from change() that it has not.
    [[nodiscard]] int add(int descriptor, std::uint32_t events, void* tag) noexcept;
    [[nodiscard]] int change(int descriptor, std::uint32_t events, void* tag) noexcept;
    // It is not reported any more. When its file is closed the system forgets it by itself, but the
    // file may be open under other numbers.
    void remove(int descriptor) noexcept;
    // How many events have been written to `out`; a `timeout_ms` of 0 does not wait, -1 is for
    // ever. 0 also after a signal.
    [[nodiscard]] int wait(std::span<epoll_event> out, int timeout_ms) noexcept;
    // The same until a time on the clock of monotonic_ns(), or up to a millisecond later where the
    // system measures such waits in milliseconds only.
    [[nodiscard]] int wait_until(std::span<epoll_event> out, std::uint64_t deadline_ns) noexcept;

private:
    private_descriptor m_file;
};

} // namespace tulle::os
