// SPDX-License-Identifier: Apache-2.0
// What belongs to the calling OS thread: the worker that runs on it, the deque of the stack that
// the caller stands on, and the deterministic run that it takes part in. Read afresh at each use
// (cpu_thread_local.hpp).
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/cpu_thread_local.hpp>
#include <tulle/detail/deque_front.hpp>

#include <cstddef>

namespace tulle::detail {

// All null on an OS thread that has not used Tulle yet; the deque also on a stack that has not
// forked yet, the run nearly always.
struct current_block {
    deque_front* deque;
    void* worker;
    void* run;
};

} // namespace tulle::detail

extern "C" {
// Name, layout and model are part of the ABI.
TULLE_API extern constinit thread_local tulle::detail::current_block tulle_current
    __attribute__((tls_model("initial-exec")));
TULLE_API void* tulle_read_current(int offset) noexcept;
}

namespace tulle::detail {

// The fiber that the caller stands on; null on an OS thread that has not used Tulle yet. A
// worker begins with the one that it runs.
TULLE_INLINE void* current_fiber() noexcept {
    void* const worker = read_current<offsetof(current_block, worker)>(&tulle_read_current);
    return TULLE_LIKELY(worker != nullptr) ? *static_cast<void* const*>(worker) : nullptr;
}

TULLE_INLINE deque_front* current_deque() noexcept {
    return static_cast<deque_front*>(
        read_current<offsetof(current_block, deque)>(&tulle_read_current));
}

} // namespace tulle::detail
