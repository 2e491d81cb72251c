// SPDX-License-Identifier: Apache-2.0
// How large the frame is that a function was making when it overflowed its stack; where that is not
// known, 0.
#pragma once

#include "arch/architecture.hpp"

#if __has_include(TULLE_ARCH_FILE(stack_probe.hpp))
#include TULLE_ARCH_FILE(stack_probe.hpp)
#else
#include <cstdint>

#include <ucontext.h>

namespace tulle::arch {
[[nodiscard]] inline std::uintptr_t probe_target(ucontext_t const&) noexcept { return 0; }
} // namespace tulle::arch
#endif
