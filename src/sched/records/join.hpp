// SPDX-License-Identifier: Apache-2.0
// The slow half of fork and join: what <tulle/fork.hpp> calls when the fast path fails.
#pragma once

#include "sched/fiber.hpp"
#include "sched/records/record_deque.hpp"

namespace tulle::sched {

// Takes records that were joined out of order off the deques of `f`. False: there are forked
// threads that have not been joined.
[[nodiscard]] bool discard_joined_records(fiber& f) noexcept;
[[nodiscard]] bool discard_joined_records(record_deque& deque) noexcept;
// The thread of this record was joined while younger ones were not; it may not have ended yet.
[[nodiscard]] bool is_joined(record const& slot) noexcept;

// Called in a child process, in which the thieves of these records are not there. Their joins throw
// left_behind_error().
void lose_stolen_records(record_deque& deque) noexcept;

} // namespace tulle::sched
