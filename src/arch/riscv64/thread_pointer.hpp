// SPDX-License-Identifier: Apache-2.0
// The register tp (RISC-V ELF psABI, TLS variant I).
#pragma once

namespace tulle::arch {

inline constexpr std::ptrdiff_t k_thread_pointer_bias = 0; // the pointer is what the register says
inline constexpr std::array<inherited_bytes, 0> k_inherited{}; // the guards are no thread's own

[[nodiscard]] inline bool may_set_thread_pointer() noexcept { return true; }

[[nodiscard]] inline void* thread_pointer() noexcept {
    void* pointer;
    __asm__ __volatile__("mv %0, tp" : "=r"(pointer));
    return pointer;
}

// No compiler may keep what it has found by the old one.
inline void set_thread_pointer(void* pointer) noexcept {
    __asm__ __volatile__("mv tp, %0" : : "r"(pointer) : "memory");
}

} // namespace tulle::arch
