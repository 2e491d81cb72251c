// SPDX-License-Identifier: Apache-2.0
// One wait for a condition: let go of the mutex, wait, take it again.
#pragma once

#include "sync/condition_core.hpp"
#include "sync/mutex_ops.hpp"

namespace tulle::sync {

// False: the time was up. A deadline in the past only lets others have the mutex for a moment.
inline bool wait_condition(condition_core<parking>& condition, detail::mutex_front& front, native_mutex_queue& queue,
                           std::uint64_t deadline, sched::wait_kind kind = sched::wait_kind::mutex) noexcept {
    auto const let_go = [&front, &queue] { unlock(front, queue); };
    bool notified = true;
    if (deadline == detail::k_no_deadline) {
        condition.wait(let_go);
    } else if (parking::now() < deadline) {
        notified = condition.wait_until(deadline, let_go);
    } else {
        let_go();
        parking::relax();
        notified = false;
    }
    lock(front, queue, kind);
    return notified;
}

} // namespace tulle::sync
