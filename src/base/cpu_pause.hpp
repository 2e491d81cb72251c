// SPDX-License-Identifier: Apache-2.0
//
// A hint to the processor that the caller spins. This is the only file below `os` and `arch` that looks at the
// architecture: `base` cannot include upwards, and the hint must be inline.
#pragma once

namespace tulle::base {

/// Tells the core that this is a spin-wait loop; never blocks and orders nothing.
inline void cpu_pause() noexcept
{
#if defined(__x86_64__) || defined(__i386__)
    asm volatile("pause");
#elif defined(__aarch64__)
    asm volatile("isb"); // `yield` retires at once on most cores; isb waits tens of cycles, as pause does
#elif defined(__arm__)
    asm volatile("yield");
#elif defined(__powerpc__)
    asm volatile("or 27,27,27");
#elif defined(__riscv)
    asm volatile(".insn i 0x0F, 0, x0, x0, 0x010"); // pause, encoded for assemblers without Zihintpause
#else
    asm volatile("");
#endif
}

} // namespace tulle::base
