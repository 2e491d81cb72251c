// SPDX-License-Identifier: Apache-2.0
#include "sync/barrier_core.hpp"
#include "sync/opaque.hpp"
#include "sync/parking.hpp"

#include <tulle/barrier.hpp>

#include <stdexcept>

namespace tulle {

using parking_barrier = sync::barrier_core<sync::parking>;

barrier::barrier(std::int64_t participants) {
    if (participants < 1)
        throw std::invalid_argument("tulle::barrier: at least one thread must take part");
    sync::open<parking_barrier>(m_core).open(static_cast<std::uint64_t>(participants));
}

bool barrier::arrive_and_wait() noexcept {
    return sync::open<parking_barrier>(m_core).arrive_and_wait();
}

bool barrier::try_arrive_and_wait() noexcept {
    return sync::open<parking_barrier>(m_core).try_arrive();
}

bool barrier::arrive_and_wait_before(detail::limit until) noexcept {
    return sync::open<parking_barrier>(m_core).arrive_and_wait_until(until);
}

} // namespace tulle
