// SPDX-License-Identifier: Apache-2.0
// The two thread-local words. They are reached through functions that are never inlined: after a switch, the calling function may go on on
// another OS thread, and a compiler that has computed the address of a thread-local variable would keep it.
#include "sched/worker.hpp"

#include <tulle/detail/current.hpp>

extern "C" {
constinit thread_local tulle::detail::deque_front* tulle_current_deque = nullptr;
TULLE_NOINLINE tulle::detail::deque_front* tulle_current_deque_outlined(void) noexcept {
    __asm__ __volatile__("");
    return tulle_current_deque;
}
}

namespace tulle::sched {

namespace {
constinit thread_local worker* t_worker __attribute__((tls_model("initial-exec"))) = nullptr;
}

TULLE_NOINLINE worker* this_worker() noexcept {
    __asm__ __volatile__("");
    return t_worker;
}
TULLE_NOINLINE void set_this_worker(worker* w) noexcept {
    __asm__ __volatile__("");
    t_worker = w;
}
TULLE_NOINLINE void set_current_deque(record_deque* deque) noexcept {
    __asm__ __volatile__("");
    tulle_current_deque = deque;
}

} // namespace tulle::sched
