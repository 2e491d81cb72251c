// SPDX-License-Identifier: Apache-2.0
#include "sync/parking.hpp"
#include "sync/spin_core.hpp"

#include <tulle/spin_lock.hpp>

namespace tulle {

bool spin_lock::lock_cold(detail::limit until) noexcept {
    return sync::spin_core<sync::parking>(m_front).lock_until(until);
}

} // namespace tulle
