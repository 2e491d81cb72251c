// SPDX-License-Identifier: Apache-2.0
// Where another thread may go first in a deterministic run (TULLE_SEED=n, `tulle run --explore`).
#pragma once

#include <tulle/detail/current.hpp>

namespace tulle {

namespace detail {

TULLE_API TULLE_COLD void schedule_point_cold() noexcept;

} // namespace detail

// In a deterministic run the seed decides whether the caller goes on or another thread does.
// Otherwise nothing: two loads and a test.
// Forks, joins, spawns, yields and all calls on the library's synchronisation objects are such
// points already; accesses to atomic variables are not. Put it between those of lock-free code
// whose order matters, and into loops that wait for such a variable.
// Contexts: any; without effect on OS threads that are no workers. The caller must hold no lock of
// the operating system (std::mutex).
TULLE_INLINE void schedule_point() noexcept {
    void* const run =
        detail::read_current<offsetof(detail::current_block, run)>(&tulle_read_current);
    if (TULLE_UNLIKELY(run != nullptr)) detail::schedule_point_cold();
}

} // namespace tulle
