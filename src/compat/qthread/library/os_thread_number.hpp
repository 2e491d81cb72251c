// SPDX-License-Identifier: Apache-2.0
// A small number for each OS thread, to spread threads over several locks. Not unique: only
// different for threads that begin one after the other. Asks nothing of the run time, so that it
// serves before qthread_initialize().
#pragma once

#include <tulle/detail/attributes.hpp>

#include <atomic>

namespace tulle::compat {

// Not inlined: a caller that has been moved to another OS thread must not use the address of the
// former one's variable.
TULLE_NOINLINE inline unsigned os_thread_number() noexcept {
    static std::atomic<unsigned> s_next{0};
    // relaxed: only different numbers are wanted.
    thread_local unsigned const t_number = s_next.fetch_add(1, std::memory_order_relaxed);
    return t_number;
}

} // namespace tulle::compat
