// SPDX-License-Identifier: Apache-2.0
// Whether the instruction by which the processor exchanges a word in memory is a full fence, too:
// no load behind it is done before a store ahead of it can be seen.
#pragma once

#include "arch/architecture.hpp"

#if __has_include(TULLE_ARCH_FILE(exchange_fence.hpp))
#include TULLE_ARCH_FILE(exchange_fence.hpp)
#else
namespace tulle::arch {
inline constexpr bool k_exchange_is_fence = false;
} // namespace tulle::arch
#endif
