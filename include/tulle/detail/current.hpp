// SPDX-License-Identifier: Apache-2.0
// The deque of the stack that the caller stands on. It is read afresh at each fork, through code that the compiler cannot merge with an
// earlier read: a thread may go on after a wait on another OS thread, whose thread-local variables lie elsewhere.
// The one place in the public headers that looks at the architecture.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/deque_front.hpp>

extern "C" {
// Null on threads that have not forked yet. Name and model are part of the ABI.
TULLE_API extern constinit thread_local tulle::detail::deque_front* tulle_current_deque __attribute__((tls_model("initial-exec")));
TULLE_API tulle::detail::deque_front* tulle_current_deque_outlined(void) noexcept;
}

namespace tulle::detail {

TULLE_INLINE deque_front* current_deque() noexcept {
#if defined(__x86_64__) && !defined(__ILP32__)
    deque_front* deque;
    __asm__ __volatile__("movq tulle_current_deque@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(deque));
    return deque;
#else
    return tulle_current_deque_outlined();
#endif
}

} // namespace tulle::detail
