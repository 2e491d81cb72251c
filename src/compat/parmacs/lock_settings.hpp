// SPDX-License-Identifier: Apache-2.0
// What the environment says of locks between machines.
#pragma once

#include "sync/lock_settings.hpp"

namespace tulle::parmacs {

// Ends the program if it makes no sense.
[[nodiscard]] sync::lock_settings const& chosen_locks() noexcept;

} // namespace tulle::parmacs
