// SPDX-License-Identifier: Apache-2.0
// Context switch for x86-64, System V ABI, as inline assembly.
//
// The switch is inlined into its caller and leaves by an indirect jump: a `ret`, or a call that is
// never returned from, misleads the return predictor and costs 15 ns. What a called function would
// save is declared clobbered instead, so the compiler keeps only what is live. A suspended context
// is one word, the stack pointer, which points to
//
//     sp + 0    resume address         sp + 16   MXCSR (4 bytes)
//     sp + 8    rbp                    sp + 20   x87 control word (2 bytes)
//     sp + 24   128 bytes, the red zone of the interrupted function
//     the interrupted function's own stack pointer is sp + 152
//
// A debugger unwinds a suspended context from {pc = [sp], rbp = [sp + 8], rsp = sp + 152}; all else
// is dead there. A context that has not run yet resumes at tulle_context_entry, where rsp = sp + 8
// and frame number 0 is the last one.
#pragma once

namespace tulle::arch {

#if defined(__AVX512F__)
#define TULLE_CONTEXT_CLOBBERS_WIDE                                                                \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",    \
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",  \
        "k7"
#else
#define TULLE_CONTEXT_CLOBBERS_WIDE
#endif

inline std::size_t const asm_backend::k_saved_bytes = 152;

inline void asm_backend::switch_to(context& from, context const& to) noexcept {
    void* save = &from;
    void const* load = &to;
    asm volatile("leaq -136(%%rsp), %%rsp\n\t" // past the red zone
                 "stmxcsr (%%rsp)\n\t"
                 "fnstcw 4(%%rsp)\n\t"
                 "movzwl 4(%%rsp), %%edx\n\t"
                 "leaq 1f(%%rip), %%rax\n\t"
                 "pushq %%rbp\n\t"
                 "pushq %%rax\n\t"
                 "movq %%rsp, (%[save])\n\t"
                 "movq (%[load]), %%rsp\n\t"
                 // Costs less than to find out whether it must be: 4.9 ns in all, not 6.6 (Zen 4)
                 "ldmxcsr 16(%%rsp)\n\t"
                 "cmpw %%dx, 20(%%rsp)\n\t"
                 "jne 2f\n\t"
                 "3:\n\t"
                 "popq %%rax\n\t"
                 "jmp *%%rax\n\t"
                 // x87 control words differ (rare). Pending exceptions go first, else unmasking one
                 // would raise it in the wrong context.
                 "2:\n\t"
                 "fnclex\n\t"
                 "fldcw 20(%%rsp)\n\t"
                 "jmp 3b\n\t"
                 ".p2align 4\n"
                 "1:\n\t"
                 "endbr64\n\t"
                 "popq %%rbp\n\t"
                 "leaq 136(%%rsp), %%rsp"
                 : [save] "+D"(save), [load] "+S"(load)
                 :
                 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
                   "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st",
                   "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)",
                   "st(7)" TULLE_CONTEXT_CLOBBERS_WIDE);
}

#undef TULLE_CONTEXT_CLOBBERS_WIDE

// What begin_rounding() of rounding.hpp does, for a suspended context: in its control words, which
// costs a fifth of reading MXCSR once they have been loaded.
inline void begin_rounding(asm_backend::context& suspended) noexcept {
    // Of MXCSR, and of the x87 control word above it.
    constexpr unsigned long k_rounding = 0x6000UL | 0xc00UL << 32U;
    unsigned long words = 0;
    asm volatile("movq 16(%[sp]), %[words]" : [words] "=r"(words) : [sp] "r"(suspended.sp));
    if (__builtin_expect(static_cast<long>((words & k_rounding) == 0), 1) != 0) return;
    asm volatile("movq %[words], 16(%[sp])"
                 :
                 : [words] "r"(words & ~k_rounding), [sp] "r"(suspended.sp)
                 : "memory");
}

using assembly_backends = std::tuple<asm_backend>;

} // namespace tulle::arch
