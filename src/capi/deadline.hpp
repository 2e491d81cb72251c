// SPDX-License-Identifier: Apache-2.0
// Time-outs as the C functions take them.
#pragma once

#include "sync/parking.hpp"

#include <cstdint>

namespace tulle::capi {

// 0: only try; TULLE_FOREVER, or beyond the clock's range: no deadline.
[[nodiscard]] inline std::uint64_t deadline_in(std::uint64_t timeout_ns) noexcept {
    if (timeout_ns == 0 || timeout_ns == detail::k_no_deadline) return timeout_ns;
    std::uint64_t const now = sync::parking::now();
    return timeout_ns > detail::k_no_deadline - now ? detail::k_no_deadline : now + timeout_ns;
}

} // namespace tulle::capi
