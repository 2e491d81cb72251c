// SPDX-License-Identifier: Apache-2.0
// The register tp (RISC-V ELF psABI, TLS variant I).
#pragma once

namespace tulle::arch {

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
