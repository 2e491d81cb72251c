// SPDX-License-Identifier: Apache-2.0
// x86-64 as an unwinder sees it: DWARF numbers of the registers (System V ABI, figure 3.36), and
// what signal frames and ucontexts hold.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <ucontext.h>

namespace tulle::arch {

inline constexpr bool k_can_unwind = true;
// rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, return address
inline constexpr std::size_t k_register_count = 17;
inline constexpr std::size_t k_frame_pointer = 6;
inline constexpr std::size_t k_stack_pointer = 7;
[[nodiscard]] constexpr std::uint64_t slot_of(std::uint64_t dwarf_number) noexcept {
    return dwarf_number;
}

// Where they are in gregset_t, in DWARF's order. As the return address counts where the frame was
// stopped: the frame descriptions of the linker's stubs (.plt) compute with it.
inline constexpr std::array<int, k_register_count> k_greg_of_register{
    REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
    REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

[[nodiscard]] inline std::uintptr_t code_address(std::uintptr_t return_address) noexcept {
    return return_address;
}

[[nodiscard]] inline std::uintptr_t pc_of(ucontext_t const& saved) noexcept {
    return static_cast<std::uintptr_t>(saved.uc_mcontext.gregs[REG_RIP]);
}
template <class Visit> void visit_registers(ucontext_t const& saved, Visit const& visit) noexcept {
    for (std::size_t k = 0; k < k_greg_of_register.size(); ++k) {
        visit(k, static_cast<std::uintptr_t>(saved.uc_mcontext.gregs[k_greg_of_register[k]]));
    }
}

// What the caller's frame looks like at this code point.
[[gnu::always_inline]] inline void read_code_point(std::uintptr_t& pc, std::uintptr_t& sp,
                                                   std::uintptr_t& fp) noexcept {
    asm volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
                 : "=r"(pc), "=r"(sp), "=r"(fp));
}

} // namespace tulle::arch
