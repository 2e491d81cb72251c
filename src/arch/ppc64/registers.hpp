// SPDX-License-Identifier: Apache-2.0
// 64-bit Power as an unwinder sees it: DWARF numbers of the registers (64-Bit ELF V2 ABI, section
// 2.4), and what signal frames and ucontexts hold.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ucontext.h>

namespace tulle::arch {

inline constexpr bool k_can_unwind = true;
inline constexpr std::size_t k_register_count = 33; // r0 to r31, lr
inline constexpr std::size_t k_frame_pointer = 31;
inline constexpr std::size_t k_stack_pointer = 1;

// The link register has a number of its own behind those of the floating-point registers.
[[nodiscard]] constexpr std::uint64_t slot_of(std::uint64_t dwarf_number) noexcept {
    constexpr std::uint64_t k_link_register = 65;
    if (dwarf_number == k_link_register) return k_register_count - 1;
    return dwarf_number < k_register_count - 1 ? dwarf_number : k_register_count;
}

// What the caller's frame looks like at this code point.
[[gnu::always_inline]] inline void read_code_point(std::uintptr_t& pc, std::uintptr_t& sp,
                                                   std::uintptr_t& fp) noexcept {
    asm volatile("mr %2, 31\n\tmr %1, 1\n\tbcl 20, 31, 4f\n4:\n\tmflr %0"
                 : "=r"(pc), "=r"(sp), "=r"(fp)
                 :
                 : "lr");
}

[[nodiscard]] inline std::uintptr_t code_address(std::uintptr_t return_address) noexcept {
    return return_address;
}

// The kernel's order: behind r0 to r31 the address of the next instruction, machine state, r3 of
// the system call, ctr, lr.
[[nodiscard]] inline std::uintptr_t pc_of(ucontext_t const& saved) noexcept {
    return saved.uc_mcontext.gp_regs[32];
}

template <class Visit> void visit_registers(ucontext_t const& saved, Visit const& visit) noexcept {
    constexpr std::size_t k_link_register = 36;
    for (std::size_t k = 0; k < k_register_count - 1; ++k) visit(k, saved.uc_mcontext.gp_regs[k]);
    visit(k_register_count - 1, saved.uc_mcontext.gp_regs[k_link_register]);
}

} // namespace tulle::arch
