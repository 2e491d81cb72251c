// SPDX-License-Identifier: Apache-2.0
// The hazard pointers of all structures of this process.
#pragma once

#include "base/atomic.hpp"
#include "compat/qthread/structures/hazard.hpp"

namespace tulle::compat {

using hazard_record = basic_hazard_record<base::machine>;

// The record of the calling OS thread. Throws std::bad_alloc at its first call there.
[[nodiscard]] hazard_record& own_hazards();

} // namespace tulle::compat
