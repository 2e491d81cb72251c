// SPDX-License-Identifier: Apache-2.0
#include "sync/condition_core.hpp"
#include "sync/condition_ops.hpp"
#include "sync/opaque.hpp"

#include <tulle/condition_variable.hpp>

namespace tulle {

using parking_condition = sync::condition_core<sync::parking>;

void condition_variable::notify_one() noexcept {
    sync::open<parking_condition>(m_core).notify_one();
}

void condition_variable::notify_all() noexcept {
    sync::open<parking_condition>(m_core).notify_all();
}

bool condition_variable::wait_cold(mutex& m, std::uint64_t deadline) noexcept {
    return wait_until_cold(m, deadline);
}

bool condition_variable::wait_until_cold(mutex& m, detail::limit until) noexcept {
    return sync::wait_condition(sync::open<parking_condition>(m_core), m.m_front,
                                sync::open<sync::native_mutex_queue>(m.m_queue), until,
                                wait::wait_kind::owned_mutex);
}

} // namespace tulle
