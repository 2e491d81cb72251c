// SPDX-License-Identifier: Apache-2.0
// The register that thread-local variables are found by. Where a program cannot set it, threads
// have the variables of their workers.
#pragma once

#include "arch/architecture.hpp"

#if __has_include(TULLE_ARCH_FILE(thread_pointer.hpp))
#include TULLE_ARCH_FILE(thread_pointer.hpp)
#else
namespace tulle::arch {
[[nodiscard]] inline bool may_set_thread_pointer() noexcept { return false; }
[[nodiscard]] inline void* thread_pointer() noexcept { return nullptr; }
inline void set_thread_pointer(void*) noexcept {}
} // namespace tulle::arch
#endif
