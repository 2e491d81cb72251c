// SPDX-License-Identifier: Apache-2.0
#include "sync/limit_wait.hpp"
#include "sync/parking.hpp"

#include <tulle/cancellation.hpp>
#include <tulle/this_thread.hpp>

namespace tulle::detail {

bool wait_for_cancellation(limit until) noexcept {
    schedule_point();
    sync::limit<sync::parking> const l(until);
    if (until.token != nullptr && is_cancelled(*until.token)) return true;
    if (l.is_over()) {
        this_thread::yield();
        return false;
    }
    return sync::wait_for_limit<sync::parking>({sched::wait_kind::cancellation, until.token}, l) == sync::outcome::cancelled;
}

} // namespace tulle::detail
