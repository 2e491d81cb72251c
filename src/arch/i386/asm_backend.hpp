// SPDX-License-Identifier: Apache-2.0
// Context switch for i386, System V ABI, Intel386 Architecture Processor Supplement (chapter 3), as
// inline assembly. Wants SSE (Pentium III).
//
// Inlined into its caller and left by an indirect jump, as on x86-64 (x86_64/asm_backend.hpp says
// why). What a called function would save (ebx, esi, edi) is declared clobbered, so the compiler
// keeps only what is live. A suspended context is one word, the stack pointer:
//
//     sp + 0    resume address         sp + 8    MXCSR (4 bytes)
//     sp + 4    ebp                    sp + 12   x87 control word (2 bytes)
//     the interrupted function's own stack pointer is sp + 16; there is no red zone
#pragma once

namespace tulle::arch {

#if defined(__SSE__)
#define TULLE_CONTEXT_CLOBBERS_WIDE , "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7"
#else
#define TULLE_CONTEXT_CLOBBERS_WIDE
#endif

inline std::size_t const asm_backend::k_saved_bytes = 16;

inline void asm_backend::switch_to(context& from, context const& to) noexcept {
    void* save = &from;
    void const* load = &to;
    asm volatile("call 4f\n" // to the next instruction: no return predictor counts that
                 "4:\n\t"
                 "popl %%eax\n\t"
                 "leal 1f-4b(%%eax), %%eax\n\t"
                 "leal -8(%%esp), %%esp\n\t"
                 "stmxcsr (%%esp)\n\t"
                 "fnstcw 4(%%esp)\n\t"
                 "movzwl 4(%%esp), %%ebx\n\t"
                 "pushl %%ebp\n\t"
                 "pushl %%eax\n\t"
                 "movl %%esp, (%[save])\n\t"
                 "movl (%[load]), %%esp\n\t"
                 "ldmxcsr 8(%%esp)\n\t"
                 "cmpw %%bx, 12(%%esp)\n\t"
                 "jne 2f\n"
                 "3:\n\t"
                 "popl %%eax\n\t"
                 "jmp *%%eax\n"
                 "2:\n\t"
                 "fnclex\n\t" // a pending exception belongs to the other context
                 "fldcw 12(%%esp)\n\t"
                 "jmp 3b\n"
                 "1:\n\t"
                 "popl %%ebp\n\t"
                 "leal 8(%%esp), %%esp"
                 : [save] "+c"(save), [load] "+d"(load)
                 :
                 : "eax", "ebx", "esi", "edi", "memory", "cc", "st", "st(1)", "st(2)", "st(3)",
                   "st(4)", "st(5)", "st(6)", "st(7)" TULLE_CONTEXT_CLOBBERS_WIDE);
}

#undef TULLE_CONTEXT_CLOBBERS_WIDE

using assembly_backends = std::tuple<asm_backend>;

} // namespace tulle::arch
