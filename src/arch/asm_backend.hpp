// SPDX-License-Identifier: Apache-2.0
// The backend in assembly. What differs by architecture is in two files of each one's folder:
// asm_backend.hpp, included below, has the switch, and asm_backend.cpp the first frame of a context
// and how an unwinder reads a suspended one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "arch/architecture.hpp"
#include "arch/control_at_rest.hpp"
#include "arch/registers.hpp"

namespace tulle::arch {

struct asm_backend {
    struct context {
        void* sp = nullptr;
    };

    // Prepares a context that calls entry(argument) on [stack_low, stack_low + size) when first
    // switched to, with the FP control words of the caller. `entry` must not return; unwinding
    // ends below it.
    static void make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                     void* argument) noexcept;

    // Suspends the caller in `from` and resumes `to`; returns when some context switches to
    // `from`.
    [[gnu::always_inline]] static inline void switch_to(context& from, context const& to) noexcept;

    // switch_to() as an ordinary call, for callers that must not inline it, and for comparison.
    static void switch_to_outlined(context& from, context const& to) noexcept;

    // Resumes `to` and gives the running context up.
    [[noreturn]] static void set(context const& to) noexcept;

    static constexpr bool k_keeps_rounding_mode = true;
    static std::size_t const k_saved_bytes; // below, for each architecture
    [[nodiscard]] static registers saved_registers(context const& suspended) noexcept;
};

} // namespace tulle::arch

#include TULLE_ARCH_FILE(asm_backend.hpp)
