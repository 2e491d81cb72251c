// SPDX-License-Identifier: Apache-2.0
// Context switch for SPARC V9, 64-bit: SPARC Compliance Definition 2.4, chapter 3P (stack bias
// 2047; 16 words at %sp + 2047 belong to the kernel, which may store the register window there at
// any time); the SPARC Architecture Manual, Version 9, sections 6.4 and A.21 (FLUSHW).
//
// A routine, not inline assembly: it needs a window of its own, so that FLUSHW, which is not
// privileged, stores all of the caller's windows in the stack that is left. The caller's window on
// the other stack is loaded by the trap of the last `restore`. No register but the windows is
// preserved over calls, and the thread pointer %g7 is not touched. A suspended context is one word,
// %sp (with its bias) of the routine's frame:
//
//     %sp + 2047         window save area and argument words
//     %sp + 2047 + 176   %i7, the address of the call
//     %sp + 2047 + 184   %fsr
//     %sp + 192          the caller's %sp
#pragma once

#include "arch/sparc/window_flush.hpp"

namespace tulle::arch {

inline std::size_t const asm_backend::k_saved_bytes = 192;

} // namespace tulle::arch
