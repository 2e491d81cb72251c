// SPDX-License-Identifier: Apache-2.0
// Reads and writes a word of the thread-local block `tulle_current` so that no two accesses are
// merged: the compiler must not remember where a thread-local variable lies over a wait, after
// which the thread may run on another OS thread. Where there is no short sequence, by an outlined
// call.
#pragma once

#include <tulle/detail/attributes.hpp>

namespace tulle::detail {

#if defined(__x86_64__) && !defined(__ILP32__)
template <int Offset> TULLE_INLINE void* read_current(void* (*)(int) noexcept) noexcept {
    void* word;
    __asm__ __volatile__("movq tulle_current@gottpoff(%%rip), %0\n\tmovq %%fs:%c1(%0), %0"
                         : "=&r"(word)
                         : "i"(Offset));
    return word;
}
// The library's own.
template <int Offset>
TULLE_INLINE void write_current(void* word, void (*)(int, void*) noexcept) noexcept {
    void* address;
    __asm__ __volatile__("movq tulle_current@gottpoff(%%rip), %0\n\tmovq %1, %%fs:%c2(%0)"
                         : "=&r"(address)
                         : "r"(word), "i"(Offset)
                         : "memory");
}
#else
template <int Offset> TULLE_INLINE void* read_current(void* (*outlined)(int) noexcept) noexcept {
    return outlined(Offset);
}
template <int Offset>
TULLE_INLINE void write_current(void* word, void (*outlined)(int, void*) noexcept) noexcept {
    outlined(Offset, word);
}
#endif

} // namespace tulle::detail
