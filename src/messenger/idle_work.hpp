// SPDX-License-Identifier: Apache-2.0
// Work besides messages that a place has for workers without any: the functions of
// base::idle_poller that are about work, and the ends of searches.
#pragma once

namespace tulle::messenger {

class idle_work {
public:
    // A worker calls this that has found nothing else, or, if it is not idle, nothing but what it
    // knows of. True: it has made a thread ready.
    [[nodiscard]] virtual bool take(bool is_idle) noexcept = 0;
    // Sets the wake flags: a thread that makes work wakes a sleeper from now on. A worker that goes
    // to sleep calls this before a heavy fence. False: there are none; one that is made later is
    // set from the start.
    [[nodiscard]] virtual bool set_wake_flags() noexcept = 0;
    [[nodiscard]] virtual bool is_there() const noexcept = 0;
    // A search was in vain, or has found something.
    virtual void rest() noexcept = 0;
    virtual void wake_up() noexcept = 0;

protected:
    ~idle_work() = default;
};

} // namespace tulle::messenger
