// SPDX-License-Identifier: Apache-2.0
// One wait for a condition: let go of the mutex, wait, take it again.
#pragma once

#include "sync/condition_core.hpp"
#include "sync/mutex_ops.hpp"

namespace tulle::sync {

// False: the limit was reached. A limit that was reached before the call only lets others go on for
// a moment. `let_go` gives the mutex up.
template <class LetGo>
[[nodiscard]] bool wait_without_lock(condition_core<parking>& condition, limit<parking> until,
                                     LetGo let_go) noexcept {
    if (until.is_none()) {
        condition.wait(let_go);
        return true;
    }
    if (!until.is_over()) return condition.wait_until(until, let_go);
    let_go();
    parking::relax();
    return false;
}

inline bool wait_condition(condition_core<parking>& condition, detail::mutex_front& front,
                           native_mutex_queue& queue, limit<parking> until,
                           wait::wait_kind kind = wait::wait_kind::mutex) noexcept {
    bool const notified =
        wait_without_lock(condition, until, [&front, &queue] { unlock(front, queue); });
    lock(front, queue, kind);
    return notified;
}

} // namespace tulle::sync
