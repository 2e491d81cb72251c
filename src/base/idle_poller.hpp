// SPDX-License-Identifier: Apache-2.0
// What workers without work look at besides threads: the scheduler calls it and does not know what it is.
#pragma once

namespace tulle::base {

class idle_poller {
public:
    // By a worker that searches for work. True: there was something, which may have made threads ready.
    virtual bool poll() noexcept = 0;
    // Around a search: this worker polls until then.
    virtual void begin_watch() noexcept = 0;
    virtual void end_watch() noexcept = 0;

protected:
    ~idle_poller() = default;
};

} // namespace tulle::base
