// SPDX-License-Identifier: Apache-2.0
// The lock of LOCK. On one machine it is the share of that machine alone. On several, each has a
// share, and the home knows which machine has the lock (sync/machine_lock.hpp).
#pragma once

#include "compat/parmacs/home_calls.hpp"
#include "compat/parmacs/waiting.hpp"
#include "os/machine.hpp"
#include "sync/machine_lock.hpp"

#include <cstdint>

namespace tulle::parmacs {

using machine_share = sync::lock_share<os::machine, shared_lock>;

// Zero bytes are a free one.
struct spanning_lock {
    machine_share share; // of the home's machine
    sync::lock_home<os::machine, waiter> home;
};

// Where processes are on several machines; `home`: -1 is this one. False: it is no lock.
[[nodiscard]] bool take_spanning(void* object, int home) noexcept;
// Where they are. False: nobody holds it.
[[nodiscard]] bool give_spanning(void* object, int home) noexcept;

// For processes of other machines, in the thread that takes messages. Takes the lock for one; the
// entry's amount says whether it is contended there.
[[nodiscard]] std::int64_t take_for(waiter& entry, void* object) noexcept;
void release_at_home(void* object, sync::left how) noexcept;
void recall_here(home_request const& wanted) noexcept;
[[nodiscard]] std::int64_t unlock_for_others(home_request const& wanted) noexcept;
void take_grant(home_request const& granted) noexcept; // for one of this place that waits for it

} // namespace tulle::parmacs
