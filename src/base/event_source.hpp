// SPDX-License-Identifier: Apache-2.0
// Events from outside that threads wait for, such as input on a descriptor: the scheduler has them
// looked for and does not know what they are.
#pragma once

#include "base/waker.hpp"

#include <cstdint>

namespace tulle::base {

// As a waker it ends the rest of the worker that rests.
class event_source : public waker {
public:
    // Whether a thread waits for one.
    [[nodiscard]] virtual bool is_awaited() const noexcept = 0;
    // By a worker that searches for work, and by the watcher: makes ready the threads whose events
    // have come, and does not block. True: there were some.
    virtual bool poll() noexcept = 0;
    // The same by a worker that is busy and has come to a pause: not each time. `ready`: so many
    // threads come ahead of those that it makes ready.
    virtual bool poll_sometimes(std::uint32_t ready) noexcept = 0;

    // One of the workers that sleep waits for the events. 0: it is the caller, until end_rest();
    // else the caller sleeps elsewhere until then (ns, monotonic), and asks again.
    [[nodiscard]] virtual std::uint64_t begin_rest(void const* worker) noexcept = 0;
    // Waits until there is an event (true), wake() is called, or the time is up.
    [[nodiscard]] virtual bool rest(std::uint64_t until) noexcept = 0;
    // After that: makes ready the threads of the events that the rest has found.
    virtual void take_found() noexcept = 0;
    // By a worker that has asked.
    virtual void end_rest(void const* worker) noexcept = 0;
    // Whether one does. If not, and all workers are busy, the scheduler's watcher polls.
    [[nodiscard]] virtual bool is_watched() const noexcept = 0;
    // Whether the OS thread of this number is one of the source.
    [[nodiscard]] virtual bool owns_os_thread(int tid) const noexcept = 0;

protected:
    ~event_source() = default;
};

} // namespace tulle::base
