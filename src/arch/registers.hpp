// SPDX-License-Identifier: Apache-2.0
// The registers from which the stack of a context that does not run can be unwound. On an
// architecture without a file of its own nothing is known, and no stack is shown. The file has the
// constants below, the code point that is being executed, where a call returns to, and what a
// ucontext_t holds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <ucontext.h>

#include "arch/architecture.hpp"

#if __has_include(TULLE_ARCH_FILE(registers.hpp))
#include TULLE_ARCH_FILE(registers.hpp)
#else
namespace tulle::arch {
inline constexpr bool k_can_unwind = false;
inline constexpr std::size_t k_register_count = 1;
inline constexpr std::size_t k_frame_pointer = 0;
inline constexpr std::size_t k_stack_pointer = 0;
constexpr std::uint64_t slot_of(std::uint64_t dwarf_number) noexcept { return dwarf_number; }
inline void read_code_point(std::uintptr_t& pc, std::uintptr_t& sp, std::uintptr_t& fp) noexcept {
    pc = sp = fp = 0;
}
inline std::uintptr_t code_address(std::uintptr_t) noexcept { return 0; }
inline std::uintptr_t pc_of(ucontext_t const&) noexcept { return 0; }
template <class Visit> void visit_registers(ucontext_t const&, Visit const&) noexcept {}
} // namespace tulle::arch
#endif

namespace tulle::arch {

// The values of registers, by slot: slot_of(DWARF number), which is k_register_count or more for
// those that are not followed. `known` has a bit for each that has a value. A pc of 0: nothing is
// known.
struct registers {
    std::uintptr_t pc = 0;
    std::array<std::uintptr_t, k_register_count> value{};
    std::uint64_t known = 0;

    void set(std::size_t number, std::uintptr_t to) noexcept {
        value[number] = to;
        known |= std::uint64_t{1} << number;
    }
    [[nodiscard]] bool has(std::size_t number) const noexcept {
        return number < k_register_count && (known >> number & 1) != 0;
    }
};

// Where a function is being executed: enough to unwind from as long as that function has not
// returned.
struct code_point {
    std::uintptr_t pc = 0, sp = 0, fp = 0;
};

[[gnu::always_inline]] inline code_point this_code_point() noexcept {
    code_point here;
    read_code_point(here.pc, here.sp, here.fp);
    return here;
}

[[nodiscard]] inline registers registers_of(code_point const& point) noexcept {
    registers r;
    r.pc = point.pc;
    r.set(k_stack_pointer, point.sp);
    r.set(k_frame_pointer, point.fp);
    return r;
}

// The registers of a context that a signal has interrupted, or that swapcontext has saved.
[[nodiscard]] inline registers registers_of(ucontext_t const& saved) noexcept {
    registers r;
    visit_registers(saved,
                    [&r](std::size_t number, std::uintptr_t value) { r.set(number, value); });
    r.pc = pc_of(saved);
    return r;
}

} // namespace tulle::arch
