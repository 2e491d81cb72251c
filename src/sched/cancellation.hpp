// SPDX-License-Identifier: Apache-2.0
// What <tulle/cancellation.hpp> stands on: something that can be cancelled, perhaps with a
// deadline, perhaps with what it is a part of.
// Locks are taken downwards only: the timer queue's, then the whole's, then the part's.
#pragma once

#include "os/machine.hpp"
#include "wait/cancellation_core.hpp"
#include "wait/timer_queue.hpp"

#include <atomic>
#include <cstdint>

namespace tulle::detail {

// Shared by sources, tokens and parts. A wait refers to it through a token that its caller holds.
struct cancellation : wait::cancellation_core<os::machine>,
                      private wait::timer,
                      private wait::cancellation_node<os::machine> {
    explicit cancellation(cancellation* whole) noexcept; // null: none. Takes a reference to it
    ~cancellation();
    cancellation(cancellation const&) = delete;
    cancellation& operator=(cancellation const&) = delete;

    // Sets the deadline, unless it has an earlier one already.
    void cancel_at(std::uint64_t when) noexcept;
    // Also true when the deadline is over and no worker has expired it yet.
    [[nodiscard]] bool is_cancelled() noexcept;
    // The first deadline of this one and all that it is a part of; k_never: there is none, or it is
    // being cancelled. An OS thread that has no worker sleeps until then, and is told by cancel_at
    // when it becomes earlier.
    [[nodiscard]] std::uint64_t first_deadline() const noexcept;
    // A wait that this may end calls it. A foreign OS thread notes it, since it watches the time
    // itself.
    void insert(node& n) noexcept;

    std::atomic<std::uint32_t> references{1};

private:
    void expect_deadlines_again() noexcept;
    static void on_time(wait::timer& t) noexcept;
    static void on_cancel(wait::cancellation_node<os::machine>& n) noexcept;

    cancellation* const m_whole;
    base::spin_lock m_deadline_lock;                      // one cancel_at at a time
    std::atomic<std::uint64_t> m_deadline{wait::k_never}; // written under it
};

} // namespace tulle::detail
