// SPDX-License-Identifier: Apache-2.0
// RISC-V as an unwinder sees it: DWARF numbers of the registers (RISC-V ELF psABI, chapter on
// DWARF), and what signal frames and ucontexts hold.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ucontext.h>

namespace tulle::arch {

inline constexpr bool k_can_unwind = true;
inline constexpr std::size_t k_register_count = 32; // x0 to x31; x1 is the return address
inline constexpr std::size_t k_frame_pointer = 8;
inline constexpr std::size_t k_stack_pointer = 2;
[[nodiscard]] constexpr std::uint64_t slot_of(std::uint64_t dwarf_number) noexcept {
    return dwarf_number;
}

// What the caller's frame looks like at this code point.
[[gnu::always_inline]] inline void read_code_point(std::uintptr_t& pc, std::uintptr_t& sp,
                                                   std::uintptr_t& fp) noexcept {
    asm volatile("auipc %0, 0\n\tmv %1, sp\n\tmv %2, s0" : "=r"(pc), "=r"(sp), "=r"(fp));
}

[[nodiscard]] inline std::uintptr_t code_address(std::uintptr_t return_address) noexcept {
    return return_address;
}

// gregset_t has the pc where x0 would be.
[[nodiscard]] inline std::uintptr_t pc_of(ucontext_t const& saved) noexcept {
    return saved.uc_mcontext.__gregs[0];
}

template <class Visit> void visit_registers(ucontext_t const& saved, Visit const& visit) noexcept {
    for (std::size_t k = 1; k < k_register_count; ++k) visit(k, saved.uc_mcontext.__gregs[k]);
}

} // namespace tulle::arch
