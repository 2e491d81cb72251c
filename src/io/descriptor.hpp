// SPDX-License-Identifier: Apache-2.0
// The threads that wait for a file descriptor of the process.
#pragma once

#include "os/epoll.hpp"
#include "sched/parking.hpp"
#include "wait/wait_list.hpp"

#include <cstdint>

namespace tulle::io {

using parking = sched::parking;

enum class direction { in, out };

// It exists for as long as the process, whatever its number means: nothing, or one file after
// another. A waiter that is woken for another file tries again and waits anew.
struct descriptor {
    int number = -1;
    parking::lock lock;         // guards what follows
    std::uint32_t closings = 0; // by tulle::io::close
    wait::wait_list<parking> readers;
    wait::wait_list<parking> writers;

    [[nodiscard]] wait::wait_list<parking>& waiting(direction d) noexcept {
        return d == direction::in ? readers : writers;
    }
    // What those that wait want to know, with the lock held; 0: nobody waits.
    [[nodiscard]] std::uint32_t wanted() const noexcept {
        return (readers.empty() ? 0U : EPOLLIN | EPOLLRDHUP) | (writers.empty() ? 0U : EPOLLOUT);
    }
};

} // namespace tulle::io
