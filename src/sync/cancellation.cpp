// SPDX-License-Identifier: Apache-2.0
#include "sync/parking.hpp"
#include "wait/limit_wait.hpp"

#include <tulle/cancellation.hpp>
#include <tulle/this_thread.hpp>

namespace tulle::detail {

bool wait_for_cancellation(limit until) noexcept {
    schedule_point();
    wait::limit<sync::parking> const l(until);
    if (until.token != nullptr && is_cancelled(*until.token)) return true;
    if (l.is_over()) {
        this_thread::yield();
        return false;
    }
    return wait::wait_for_limit<sync::parking>({wait::wait_kind::cancellation, until.token}, l) ==
           wait::outcome::cancelled;
}

} // namespace tulle::detail
