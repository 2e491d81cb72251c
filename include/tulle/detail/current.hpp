// SPDX-License-Identifier: Apache-2.0
// The deque of the stack that the caller stands on. It is read afresh at each fork, through code that the compiler cannot merge with an
// earlier read: a thread may go on after a wait on another OS thread, whose thread-local variables lie elsewhere.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/cpu_thread_local.hpp>
#include <tulle/detail/deque_front.hpp>

extern "C" {
// Null on threads that have not forked yet. Name and model are part of the ABI.
TULLE_API extern constinit thread_local tulle::detail::deque_front* tulle_current_deque
    __attribute__((tls_model("initial-exec")));
TULLE_API tulle::detail::deque_front* tulle_current_deque_outlined(void) noexcept;
}

namespace tulle::detail {

TULLE_INLINE deque_front* current_deque() noexcept {
    return read_current_deque<deque_front>(&tulle_current_deque_outlined);
}

} // namespace tulle::detail
