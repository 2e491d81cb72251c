// SPDX-License-Identifier: Apache-2.0
//
// Context switch for SPARC V9, 64-bit: SPARC Compliance Definition 2.4, chapter 3P (stack bias 2047; 16 words at %sp + 2047 belong to the kernel,
// which may store the register window there at any time); the SPARC Architecture Manual, Version 9, sections 6.4 and A.21 (FLUSHW).
//
// A routine, not inline assembly: it needs a window of its own, so that FLUSHW, which is not privileged, stores all of the caller's windows in the
// stack that is left. The caller's window on the other stack is loaded by the trap of the last `restore`. No register but the windows is
// preserved over calls, and the thread pointer %g7 is not touched. A suspended context is one word, %sp (with its bias) of the routine's frame:
//
//     %sp + 2047         window save area and argument words
//     %sp + 2047 + 176   %i7, the address of the call
//     %sp + 2047 + 184   %fsr
//     %sp + 192          the caller's %sp
#pragma once

#include <cstddef>
#include <tuple>

#include "arch/registers.hpp"

extern "C" {
void tulle_switch_flushing(void** from, void* const* to) noexcept;
void tulle_switch_trapping(void** from, void* const* to) noexcept;
}

namespace tulle::arch {

struct asm_backend {
    struct context {
        void* sp = nullptr;
    };

    static void make(context& made, void* stack_low, std::size_t size, void (*entry)(void*), void* argument) noexcept;
    static void switch_to(context& from, context const& to) noexcept { tulle_switch_flushing(&from.sp, &to.sp); }
    /// The same with one call more, for comparison.
    static void switch_to_outlined(context& from, context const& to) noexcept;
    [[noreturn]] static void set(context const& to) noexcept;

    static constexpr bool k_keeps_rounding_mode = true;
    static constexpr std::size_t k_saved_bytes = 192;
    [[nodiscard]] static registers saved_registers(context const& suspended) noexcept;
};

/// Flushes by a trap into the kernel (`ta 3`), which every SPARC has, to compare it with.
struct trap_flush_backend : asm_backend {
    static constexpr bool k_enters_kernel = true; ///< which an emulator may not support
    static void switch_to(context& from, context const& to) noexcept { tulle_switch_trapping(&from.sp, &to.sp); }
    [[noreturn]] static void set(context const& to) noexcept;
};

using assembly_backends = std::tuple<asm_backend, trap_flush_backend>;

} // namespace tulle::arch
