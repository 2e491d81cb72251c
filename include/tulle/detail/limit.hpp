// SPDX-License-Identifier: Apache-2.0
// A wait's limit as the library takes it.
#pragma once

#include <tulle/detail/deadline.hpp>

#include <cstdint>

namespace tulle::detail {

struct cancellation; // src/sched/cancellation.hpp

struct limit {
    std::uint64_t deadline = k_no_deadline; // ns, monotonic
    cancellation* token = nullptr;          // null: none

    constexpr limit() noexcept = default;
    constexpr limit(std::uint64_t until,
                    cancellation* with =
                        nullptr) noexcept // NOLINT(google-explicit-constructor): a deadline is one
        : deadline(until), token(with) {}
};

} // namespace tulle::detail
