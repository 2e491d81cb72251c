// SPDX-License-Identifier: Apache-2.0
// What both SPARC switches are: routines, with one way to flush the register windows or the other.
#pragma once

extern "C" {
void tulle_switch_flushing(void** from, void* const* to) noexcept;
void tulle_switch_trapping(void** from, void* const* to) noexcept;
}

namespace tulle::arch {

inline void asm_backend::switch_to(context& from, context const& to) noexcept {
    tulle_switch_flushing(&from.sp, &to.sp);
}

// Flushes by a trap into the kernel (`ta 3`), which every SPARC has, to compare it with.
struct trap_flush_backend : asm_backend {
    static constexpr bool k_enters_kernel = true; // which an emulator may not support
    static void switch_to(context& from, context const& to) noexcept {
        tulle_switch_trapping(&from.sp, &to.sp);
    }

    [[noreturn]] static void set(context const& to) noexcept {
        context given_up;
        switch_to(given_up, to);
        __builtin_unreachable();
    }
};

using assembly_backends = std::tuple<asm_backend, trap_flush_backend>;

} // namespace tulle::arch
