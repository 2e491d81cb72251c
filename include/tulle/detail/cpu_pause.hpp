// SPDX-License-Identifier: Apache-2.0
// One step of a spin loop. Spinning without it delays the store that is waited for, and starves a
// sibling thread of the core.
#pragma once

namespace tulle::detail {

inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    // `yield` retires at once on most cores; isb waits tens of cycles, as pause does
    __asm__ __volatile__("isb");
#elif defined(__arm__)
    __asm__ __volatile__("yield");
#elif defined(__powerpc__)
    __asm__ __volatile__("or 27,27,27");
#elif defined(__riscv)
    // pause; a hint, and no operation where it is unknown
    __asm__ __volatile__(".insn i 0x0F, 0, x0, x0, 0x010");
#else
    __asm__ __volatile__("" ::: "memory");
#endif
}

} // namespace tulle::detail
