// SPDX-License-Identifier: Apache-2.0
#include "sync/condition_core.hpp"
#include "sync/condition_ops.hpp"
#include "sync/opaque.hpp"

#include <tulle/condition_variable_any.hpp>

#include <mutex>

namespace tulle {

using parking_condition = sync::condition_core<sync::parking>;

void condition_variable_any::notify_one() noexcept {
    { std::lock_guard const none_enters(m_gate); }
    sync::open<parking_condition>(m_core).notify_one();
}

void condition_variable_any::notify_all() noexcept {
    { std::lock_guard const none_enters(m_gate); }
    sync::open<parking_condition>(m_core).notify_all();
}

bool condition_variable_any::wait_and_open(detail::limit until) noexcept {
    m_gate.clear_owner();
    auto const open_gate = [this] {
        sync::unlock(m_gate.m_front, sync::open<sync::native_mutex_queue>(m_gate.m_queue));
    };
    return sync::wait_without_lock(sync::open<parking_condition>(m_core), until, open_gate);
}

} // namespace tulle
