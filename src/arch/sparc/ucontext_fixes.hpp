// SPDX-License-Identifier: Apache-2.0
// The setcontext of the GNU C library for 32-bit SPARC loads %g7, the thread pointer, from the
// context. What the running OS thread has in it is put there first.
#pragma once

#include <ucontext.h>

namespace tulle::arch {

inline void preserve_thread_register(ucontext_t& next) noexcept {
    greg_t own;
    asm volatile("mov %%g7, %0" : "=r"(own));
    next.uc_mcontext.gregs[REG_G7] = own;
}

inline void preserve_vector_registers() noexcept {}

} // namespace tulle::arch
