// SPDX-License-Identifier: Apache-2.0
// Context switch for SPARC, 32-bit: System V ABI, SPARC Processor Supplement, chapter 3 (16 words
// at %sp belong to the kernel, which may store the register window there at any time); the SPARC
// Architecture Manual, Version 8, chapter 4 and appendix E.
//
// A routine, not inline assembly: it needs a window of its own, so that the flush stores all of the
// caller's windows in the stack that is left.
// V8 has only the trap ST_FLUSH_WINDOWS (`ta 3`) for it; code for V9 processors (V8+, as
// distributions have it) uses the instruction FLUSHW. The caller's window on the other stack is
// loaded by the trap of the last `restore`. No register but the windows is preserved over calls,
// and the thread pointer %g7 is not touched. A suspended context is one word, %sp of the routine's
// frame:
//
//     %sp         window save area and argument words
//     %sp + 96    %fp, the caller's %sp
//     %sp + 100   %i7, the address of the call
//     %sp + 104   %fsr
#pragma once

#include "arch/sparc/window_flush.hpp"

namespace tulle::arch {

inline std::size_t const asm_backend::k_saved_bytes = 112;

} // namespace tulle::arch
