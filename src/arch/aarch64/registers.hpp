// SPDX-License-Identifier: Apache-2.0
// AArch64 as an unwinder sees it: DWARF numbers of the registers (DWARF for the Arm 64-bit
// Architecture, section 4.1), and what signal frames and ucontexts hold.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ucontext.h>

namespace tulle::arch {

inline constexpr bool k_can_unwind = true;
inline constexpr std::size_t k_register_count = 32; // x0 to x30, sp
inline constexpr std::size_t k_frame_pointer = 29;
inline constexpr std::size_t k_stack_pointer = 31;
[[nodiscard]] constexpr std::uint64_t slot_of(std::uint64_t dwarf_number) noexcept {
    return dwarf_number;
}

// What the caller's frame looks like at this code point.
[[gnu::always_inline]] inline void read_code_point(std::uintptr_t& pc, std::uintptr_t& sp,
                                                   std::uintptr_t& fp) noexcept {
    asm volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29" : "=r"(pc), "=r"(sp), "=r"(fp));
}

// What a register holds of it may be signed (pointer authentication); xpaclri, in x30, takes the
// signature away, or does nothing.
[[nodiscard]] inline std::uintptr_t code_address(std::uintptr_t return_address) noexcept {
    register std::uintptr_t address asm("x30") = return_address;
    asm("hint #7" : "+r"(address));
    return address;
}

[[nodiscard]] inline std::uintptr_t pc_of(ucontext_t const& saved) noexcept {
    return saved.uc_mcontext.pc;
}

template <class Visit> void visit_registers(ucontext_t const& saved, Visit const& visit) noexcept {
    for (std::size_t k = 0; k < k_stack_pointer; ++k) visit(k, saved.uc_mcontext.regs[k]);
    visit(k_stack_pointer, saved.uc_mcontext.sp);
}

} // namespace tulle::arch
