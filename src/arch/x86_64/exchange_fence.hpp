// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tulle::arch {
inline constexpr bool k_exchange_is_fence = true; // as each locked instruction is
} // namespace tulle::arch
