// SPDX-License-Identifier: Apache-2.0
// The base of the segment fs. Its first word is its own address (System V ABI, TLS variant II).
#pragma once

#include <sys/auxv.h>

namespace tulle::arch {

inline constexpr std::ptrdiff_t k_thread_pointer_bias = 0; // the pointer is what the register says
inline constexpr std::array<inherited_bytes, 1> k_inherited{
    {{40, 16}}}; // guards of stacks and pointers

// Linux tells so when the kernel has allowed the instruction (since 5.9).
[[nodiscard]] inline bool may_set_thread_pointer() noexcept {
    constexpr unsigned long k_fsgsbase = 1UL << 1; // HWCAP2_FSGSBASE
    return (getauxval(AT_HWCAP2) & k_fsgsbase) != 0;
}

[[nodiscard]] inline void* thread_pointer() noexcept {
    void* pointer;
    __asm__ __volatile__("movq %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

// No compiler may keep what it has found by the old one.
inline void set_thread_pointer(void* pointer) noexcept {
    __asm__ __volatile__("wrfsbase %0" : : "r"(pointer) : "memory");
}

} // namespace tulle::arch
