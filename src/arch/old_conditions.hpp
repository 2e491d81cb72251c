// SPDX-License-Identifier: Apache-2.0
// Whether the C library for this architecture has functions of conditions in two versions: one of
// before 2.3.2, when conditions had another layout, and one of that version. Where it came later
// there is one, with the version that it came with.
#pragma once

#include "arch/architecture.hpp"

#if __has_include(TULLE_ARCH_FILE(old_conditions.hpp))
#include TULLE_ARCH_FILE(old_conditions.hpp)
#else
namespace tulle::arch {
inline constexpr bool k_has_old_conditions = false;
} // namespace tulle::arch
#endif
