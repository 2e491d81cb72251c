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
[[nodiscard]] std::int64_t take_for(waiter& entry, spanning_lock& lock) noexcept;
void release_at_home(spanning_lock& lock) noexcept;
// Recalls it from this machine, or unlocks it here.
[[nodiscard]] std::int64_t serve_share(home_request const& wanted) noexcept;

} // namespace tulle::parmacs
