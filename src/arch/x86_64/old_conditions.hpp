// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tulle::arch {

inline constexpr bool k_has_old_conditions = true;

} // namespace tulle::arch
