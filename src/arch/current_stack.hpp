// SPDX-License-Identifier: Apache-2.0
// Where the stack lies that the operating system gave to a thread.
#pragma once

#include <cstddef>

namespace tulle::arch {

struct stack_bounds {
    void* low;
    std::size_t size;
};

// The bounds of the calling OS thread's own stack, whichever stack it runs on now; {nullptr, 0}
// when they cannot be found.
[[nodiscard]] stack_bounds os_thread_stack() noexcept;

} // namespace tulle::arch
