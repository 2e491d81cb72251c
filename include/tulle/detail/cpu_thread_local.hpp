// SPDX-License-Identifier: Apache-2.0
// Reads the thread-local pointer `tulle_current_deque` so that no two reads are merged: the compiler must not remember where a thread-local
// variable lies over a wait, after which the thread may run on another OS thread. Where there is no short sequence, an outlined call.
#pragma once

#include <tulle/detail/attributes.hpp>

namespace tulle::detail {

#if defined(__x86_64__) && !defined(__ILP32__)
template <class T> TULLE_INLINE T* read_current_deque(T* (*)() noexcept) noexcept {
    T* deque;
    __asm__ __volatile__("movq tulle_current_deque@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(deque));
    return deque;
}
#else
template <class T> TULLE_INLINE T* read_current_deque(T* (*outlined)() noexcept) noexcept { return outlined(); }
#endif

} // namespace tulle::detail
