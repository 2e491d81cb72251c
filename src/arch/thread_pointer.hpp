// SPDX-License-Identifier: Apache-2.0
// The register that thread-local variables are found by. Where a program cannot set it, threads
// have the variables of their workers.
#pragma once

#include "arch/architecture.hpp"

#include <array>
#include <cstddef>

namespace tulle::arch {
// What the ABI has at fixed places from the thread pointer, and a new thread gets from another one.
struct inherited_bytes {
    std::ptrdiff_t at;
    std::size_t bytes;
};
} // namespace tulle::arch

#if __has_include(TULLE_ARCH_FILE(thread_pointer.hpp))
#include TULLE_ARCH_FILE(thread_pointer.hpp)
#else
namespace tulle::arch {
inline constexpr std::ptrdiff_t k_thread_pointer_bias = 0;
inline constexpr std::array<inherited_bytes, 0> k_inherited{};
[[nodiscard]] inline bool may_set_thread_pointer() noexcept { return false; }
[[nodiscard]] inline void* thread_pointer() noexcept { return nullptr; }
inline void set_thread_pointer(void*) noexcept {}
} // namespace tulle::arch
#endif
