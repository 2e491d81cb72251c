// SPDX-License-Identifier: Apache-2.0
#include "sync/once_core.hpp"
#include "sync/opaque.hpp"
#include "sync/parking.hpp"

#include <tulle/once.hpp>

namespace tulle {

using parking_once = sync::once_core<sync::parking>;
using parking_once_queue = sync::once_queue<sync::parking>;

bool once_flag::begin() noexcept {
    return parking_once(m_state, sync::open<parking_once_queue>(m_queue)).begin();
}

void once_flag::finish(bool done) noexcept {
    parking_once(m_state, sync::open<parking_once_queue>(m_queue)).finish(done);
}

} // namespace tulle
