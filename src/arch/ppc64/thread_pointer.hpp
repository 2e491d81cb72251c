// SPDX-License-Identifier: Apache-2.0
// The register r13, which points 0x7000 bytes behind where the variables begin, so that
// instructions with 16-bit offsets reach more of them (64-Bit ELF V2 ABI, section 3.7; TLS
// variant I). What is told and set here is where they begin.
#pragma once

namespace tulle::arch {

// How far behind what thread_pointer() tells the register itself points.
inline constexpr std::ptrdiff_t k_thread_pointer_bias = 0x7000;
// What lies before the variables and has the same values in all threads: words that compilers'
// built-in functions find the processor's properties by, and the two guards, of pointers and of
// stacks. Between them, and behind them, are words of each thread's own.
inline constexpr std::array<inherited_bytes, 2> k_inherited{{{-112, 24}, {-24, 16}}};

[[nodiscard]] inline bool may_set_thread_pointer() noexcept { return true; }

[[nodiscard]] inline void* thread_pointer() noexcept {
    void* pointer;
    __asm__ __volatile__("addi %0, 13, -0x7000" : "=r"(pointer));
    return pointer;
}

// No compiler may keep what it has found by the old one.
inline void set_thread_pointer(void* pointer) noexcept {
    __asm__ __volatile__("addi 13, %0, 0x7000" : : "b"(pointer) : "memory");
}

} // namespace tulle::arch
