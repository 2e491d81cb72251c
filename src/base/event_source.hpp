// SPDX-License-Identifier: Apache-2.0
// Events from outside that threads wait for, such as input on a descriptor: the scheduler has them
// looked for and does not know what they are.
#pragma once

namespace tulle::base {

class event_source {
public:
    // Whether a thread waits for one.
    [[nodiscard]] virtual bool is_awaited() const noexcept = 0;
    // By a worker that searches for work, and by the watcher: makes ready the threads whose events
    // have come, and does not block. True: there were some.
    virtual bool poll() noexcept = 0;
    // The same by a worker that is busy and has come to a pause: not each time.
    virtual bool poll_sometimes() noexcept = 0;

    // By a worker that is about to sleep, before it looks for work for the last time: an OS thread
    // of the source waits for the next event and makes its threads ready, once.
    virtual void watch() noexcept = 0;
    // Whether it does. If not, and all workers are busy, the scheduler's watcher polls.
    [[nodiscard]] virtual bool is_watched() const noexcept = 0;
    // Whether the OS thread of this number is that of the source.
    [[nodiscard]] virtual bool owns_os_thread(int tid) const noexcept = 0;

protected:
    ~event_source() = default;
};

} // namespace tulle::base
