// SPDX-License-Identifier: Apache-2.0
// What the environment says of locks between machines.
#pragma once

namespace tulle::parmacs {

struct lock_settings {
    int threshold; // TULLE_LOCK_THRESHOLD: of contention, before a lock stays with a machine
    int turns;     // TULLE_LOCK_TURNS: of that machine, while others want the lock
};

// Ends the program if it makes no sense.
[[nodiscard]] lock_settings const& chosen_locks() noexcept;

} // namespace tulle::parmacs
