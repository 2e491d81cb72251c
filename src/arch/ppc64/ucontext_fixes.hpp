// SPDX-License-Identifier: Apache-2.0
// The swapcontext of the GNU C library for Power skips v20 to v31 when the register VRSAVE is 0, as
// it is in a new process; the ABI makes no use of that register. It is given the value that says
// that all are in use.
#pragma once

#include <ucontext.h>

namespace tulle::arch {

inline void preserve_thread_register(ucontext_t&) noexcept {}

inline void preserve_vector_registers() noexcept {
    asm volatile("mtspr 256, %0" : : "r"(-1L)); // VRSAVE
}

} // namespace tulle::arch
