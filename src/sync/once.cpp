// SPDX-License-Identifier: Apache-2.0
#include "sync/once_core.hpp"
#include "sync/opaque.hpp"
#include "sync/parking.hpp"

#include <tulle/once.hpp>

namespace tulle {

using core = sync::once_core<sync::parking>;
using queue = sync::once_queue<sync::parking>;

bool once_flag::begin() noexcept { return core(m_state, sync::open<queue>(m_queue)).begin(); }

void once_flag::finish(bool done) noexcept {
    core(m_state, sync::open<queue>(m_queue)).finish(done);
}

} // namespace tulle
