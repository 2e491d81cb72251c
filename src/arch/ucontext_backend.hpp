// SPDX-License-Identifier: Apache-2.0
// Context switch by the C library's swapcontext: works wherever the library has it, at the price of
// a system call for the signal mask. The context is kept on its own stack while suspended, so that
// `context` is one pointer here too.
#pragma once

#include <cstddef>

#include <ucontext.h>

#include "arch/registers.hpp"

namespace tulle::arch {

struct ucontext_backend {
    struct context {
        void* saved = nullptr; // a ucontext_t in a frame of the suspended stack
    };

    static void make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                     void* argument) noexcept;
    static void switch_to(context& from, context const& to) noexcept;
    [[noreturn]] static void set(context const& to) noexcept;
    // Whether the C library puts the rounding mode into a ucontext_t.
#if defined(__i386__) || defined(__sparc__)
    static constexpr bool k_keeps_rounding_mode = false;
#else
    static constexpr bool k_keeps_rounding_mode = true;
#endif
    static constexpr std::size_t k_saved_bytes = sizeof(ucontext_t);
    [[nodiscard]] static registers saved_registers(context const& suspended) noexcept;
};

} // namespace tulle::arch
