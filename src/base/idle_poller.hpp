// SPDX-License-Identifier: Apache-2.0
// What workers without work poll besides threads: the scheduler calls it and does not know what it
// is.
#pragma once

#include <cstdint>

namespace tulle::base {

class idle_poller {
public:
    // A worker that searches for work calls this. True: there was something, which may have made
    // threads ready.
    virtual bool poll() noexcept = 0;
    // Like poll(), between two pauses of a search; it may do nothing.
    virtual bool poll_between() noexcept = 0;
    // A search that has found nothing goes on until then (ns, monotonic): something is expected. 0:
    // nothing is.
    [[nodiscard]] virtual std::uint64_t expects_until() const noexcept = 0;
    // Such a search calls this between two polls: the sender that it expects something from may
    // need the processor.
    virtual void let_others_run() noexcept = 0;
    // A search that finds nothing ends at once: others need the processor, and sleep is the only
    // way to let them have it.
    [[nodiscard]] virtual bool is_to_sleep_at_once() const noexcept { return false; }
    // Called around a search: this worker polls until end_watch(). `has_work`: it has found some,
    // and will be back when that is done; else it sleeps.
    virtual void begin_watch() noexcept = 0;
    virtual void end_watch(bool has_work) noexcept = 0;

    // A worker calls this that has found nothing else, or, if it is not idle, nothing but what it
    // knows of. True: it has made a thread ready.
    virtual bool take_work(bool is_idle) noexcept = 0;
    // A worker that goes to sleep calls set_wake_flags() before a heavy fence: a thread that makes
    // work for take_work() wakes a sleeper from then on. After the fence it calls has_work().
    // False: there are no such flags; one that is made later is set from the start.
    [[nodiscard]] virtual bool set_wake_flags() noexcept = 0;
    [[nodiscard]] virtual bool has_work() const noexcept = 0;

    // Nobody polls while all workers are busy, unless the scheduler's watcher polls.
    [[nodiscard]] virtual bool needs_watcher() const noexcept { return false; }

protected:
    ~idle_poller() = default;
};

} // namespace tulle::base
