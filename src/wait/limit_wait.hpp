// SPDX-License-Identifier: Apache-2.0
// A wait for nothing but its limit.
#pragma once

#include "wait/wait_list.hpp"

#include <mutex>

namespace tulle::wait {

// What has ended it: timed_out or cancelled.
template <class Parking> outcome wait_for_limit(wait_reason reason, limit<Parking> until) noexcept {
    typename Parking::lock guard;
    timed_waiter<Parking> self(until);
    park(
        reason, static_cast<waiter<Parking>&>(self), guard, [] { return true; }, &self);
    { std::lock_guard const started(guard); } // released by who has started the limit
    self.stop();
    return self.load_state();
}

} // namespace tulle::wait
