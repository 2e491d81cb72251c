// SPDX-License-Identifier: Apache-2.0
// Lock and unlock of the two parts of a mutex, without the checks of debug builds. unlock() never
// suspends.
#pragma once

#include "sync/mutex_core.hpp"
#include "sync/parking.hpp"

namespace tulle::sync {

using native_mutex_core = mutex_core<parking>;
using native_mutex_queue = mutex_queue<parking>;

// A million threads may wait.
static_assert(sizeof(waiter<parking>) <= 64);

// False: not before the limit was reached.
[[nodiscard]] inline bool lock_contended(detail::mutex_front& front, native_mutex_queue& queue,
                                         limit<parking> until,
                                         wait::wait_kind kind = wait::wait_kind::mutex) noexcept {
    sched::start_if_deterministic();
    parking::schedule_point();
    native_mutex_core waiting(front, queue, kind);
    if (waiting.take_over()) return true;
    static_cast<void>(parking::self()); // may start the run time, on whose fences the rest relies
    if (!until.is_none()) return waiting.lock_until(until);
    waiting.lock();
    return true;
}
inline void lock(detail::mutex_front& front, native_mutex_queue& queue,
                 wait::wait_kind kind = wait::wait_kind::mutex) noexcept {
    if (!front.try_lock())
        static_cast<void>(lock_contended(front, queue, detail::k_no_deadline, kind));
}
// False: another thread holds it.
[[nodiscard]] inline bool try_lock(detail::mutex_front& front, native_mutex_queue& queue) noexcept {
    sched::start_if_deterministic();
    parking::schedule_point();
    return front.try_lock_if_free() || native_mutex_core(front, queue).take_over();
}
inline void unlock(detail::mutex_front& front, native_mutex_queue& queue) noexcept {
    detail::unlock_result const how_far = front.try_unlock();
    if (how_far != detail::unlock_result::done) native_mutex_core(front, queue).unlock(how_far);
}

} // namespace tulle::sync
