// SPDX-License-Identifier: Apache-2.0
//
// The registers from which the stack of a context that does not run can be unwound. On an architecture without a file of its own nothing is
// known, and no stack is shown.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include <ucontext.h>

#if defined(__x86_64__)
#include "arch/x86_64/registers.hpp"
#else
namespace tulle::arch {
inline constexpr bool k_can_unwind = false;
inline constexpr std::size_t k_register_count = 1;
inline constexpr std::size_t k_frame_pointer = 0;
inline constexpr std::size_t k_stack_pointer = 0;
inline constexpr std::array<int, 0> k_greg_of_register{};
inline constexpr int k_greg_of_pc = 0;
inline void read_place(std::uintptr_t& pc, std::uintptr_t& sp, std::uintptr_t& fp) noexcept { pc = sp = fp = 0; }
} // namespace tulle::arch
#endif

namespace tulle::arch {

/// By DWARF number; `known` has a bit for each that has a value. A pc of 0: nothing is known.
struct registers {
    std::uintptr_t pc = 0;
    std::array<std::uintptr_t, k_register_count> value{};
    std::uint64_t known = 0;

    void set(std::size_t number, std::uintptr_t to) noexcept {
        value[number] = to;
        known |= std::uint64_t{1} << number;
    }
    [[nodiscard]] bool has(std::size_t number) const noexcept { return number < k_register_count && (known >> number & 1) != 0; }
};

/// A place in a function that is being executed: enough to unwind from as long as that function has not returned.
struct place {
    std::uintptr_t pc = 0, sp = 0, fp = 0;
};

[[gnu::always_inline]] inline place this_place() noexcept {
    place here;
    read_place(here.pc, here.sp, here.fp);
    return here;
}

[[nodiscard]] inline registers registers_of(place const& where) noexcept {
    registers r;
    r.pc = where.pc;
    r.set(k_stack_pointer, where.sp);
    r.set(k_frame_pointer, where.fp);
    return r;
}

/// Of a context that a signal has interrupted, or that swapcontext has saved. A template, as few architectures have a `gregs`.
template <std::same_as<ucontext_t> Context> [[nodiscard]] registers registers_of([[maybe_unused]] Context const& saved) noexcept {
    registers r;
    if constexpr (k_can_unwind) {
        for (std::size_t k = 0; k < k_greg_of_register.size(); ++k) {
            r.set(k, static_cast<std::uintptr_t>(saved.uc_mcontext.gregs[k_greg_of_register[k]]));
        }
        r.pc = static_cast<std::uintptr_t>(saved.uc_mcontext.gregs[k_greg_of_pc]);
    }
    return r;
}

} // namespace tulle::arch
