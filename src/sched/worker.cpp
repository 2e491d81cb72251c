// SPDX-License-Identifier: Apache-2.0
// The thread-local words. They are written through functions that are never inlined: after a
// switch, the calling function may go on on another OS thread, and a compiler that has computed the
// address of a thread-local variable would keep it.
#include "sched/worker.hpp"

#include "arch/thread_pointer.hpp"

extern "C" {
constinit thread_local tulle::detail::current_block tulle_current = {nullptr, nullptr, nullptr};
TULLE_NOINLINE void* tulle_read_current(int offset) noexcept {
    __asm__ __volatile__("");
    if (offset == 0) return tulle_current.deque;
    return offset == offsetof(tulle::detail::current_block, run) ? tulle_current.run
                                                                 : tulle_current.worker;
}
}

namespace tulle::sched {

#pragma GCC diagnostic ignored "-Winvalid-offsetof"
static_assert(offsetof(worker, current) == 0, "detail::current_fiber reads it there");

TULLE_NOINLINE void write_current_outlined(int offset, void* word) noexcept {
    __asm__ __volatile__("");
    if (offset == 0)
        tulle_current.deque = static_cast<detail::deque_front*>(word);
    else
        (offset == offsetof(detail::current_block, run) ? tulle_current.run
                                                        : tulle_current.worker) = word;
}

TULLE_NOINLINE void write_current_beside(void* thread_pointer, worker& w,
                                         record_deque* deque) noexcept {
    // The model is initial-exec: the distance is the same in all threads.
    auto const distance = reinterpret_cast<std::byte*>(&tulle_current) -
                          static_cast<std::byte*>(arch::thread_pointer());
    auto* const there = reinterpret_cast<detail::current_block*>(
        static_cast<std::byte*>(thread_pointer) + distance);
    *there = {static_cast<detail::deque_front*>(deque), &w, w.run};
}

} // namespace tulle::sched
