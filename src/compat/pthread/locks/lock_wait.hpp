// SPDX-License-Identifier: Apache-2.0
// Waits for locks, which no signal ends: the handlers run on the stack of the thread that waits,
// and it waits on, as POSIX has it. Nor does a cancellation, unless it may come at any point.
#pragma once

#include "compat/pthread/locks/futex_table.hpp"

namespace tulle::posix {

// As futex_wait, but that 0 also says that handlers have run. May end the caller.
int wait_for_lock(futex_word& word, std::uint32_t expected, std::uint64_t deadline,
                  lock_turns* turns = nullptr);

// Runs the handlers of what the caller has been sent: for those that look for a lock again and
// again.
void look_for_signals();

} // namespace tulle::posix
