// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "sync/latch_core.hpp"
#include "sync/opaque.hpp"
#include "sync/parking.hpp"

#include <tulle/latch.hpp>

#include <stdexcept>

namespace tulle {

using parking_latch = sync::latch_core<sync::parking>;

latch::latch(std::int64_t count) {
    if (count < 0) throw std::invalid_argument("tulle::latch: a count must not be negative");
    sync::open<parking_latch>(m_core).open(count);
}

void latch::count_down(std::int64_t by) noexcept {
    if (sync::open<parking_latch>(m_core).count_down(by) == sync::count_down_result::too_many)
        base::fatal_misuse(
            "latch %p is counted down by %lld, but less is left; its count must be that of "
            "all count_down() together",
            static_cast<void*>(this), static_cast<long long>(by));
}

bool latch::try_wait() const noexcept {
    schedule_point();
    return sync::open<parking_latch>(m_core).is_open();
}

void latch::wait() noexcept { sync::open<parking_latch>(m_core).wait(); }

void latch::arrive_and_wait(std::int64_t by) noexcept {
    count_down(by);
    wait();
}

bool latch::wait_before(detail::limit until) noexcept {
    return sync::open<parking_latch>(m_core).wait_until(until);
}

} // namespace tulle
