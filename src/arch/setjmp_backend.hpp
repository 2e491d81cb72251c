// SPDX-License-Identifier: Apache-2.0
// Context switch by the C library's _setjmp and _longjmp: no system call, on any architecture; the
// first entry goes through ucontext. The FP control words are NOT kept per context: they stay with
// the OS thread.
#pragma once

#include <csetjmp>
#include <cstddef>

#include "arch/registers.hpp"

namespace tulle::arch {

struct setjmp_backend {
    struct context {
        void* saved = nullptr; // the record of the suspended stack, in one of its frames
    };

    static void make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                     void* argument) noexcept;
    static void switch_to(context& from, context const& to) noexcept;
    [[noreturn]] static void set(context const& to) noexcept;
    static constexpr bool k_keeps_rounding_mode = false;
    static constexpr std::size_t k_saved_bytes = sizeof(std::jmp_buf) + sizeof(code_point);
    [[nodiscard]] static registers saved_registers(context const& suspended) noexcept;
};

} // namespace tulle::arch
