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

// The switch, past the red zone. `save_control` stores the control words at (%rsp), and leaves that
// of the x87 in edx, whose operand `edx` is. MXCSR is loaded in any case, which costs less than to
// find out whether it must be: 4.9 ns in all, not 6.6 (Zen 4). Control words of the x87 seldom
// differ, at 2; pending exceptions go first then, else unmasking one would raise it in the wrong
// context.
#define TULLE_SWITCH_CONTEXT(save_control, edx)                                                    \
    asm volatile("leaq -136(%%rsp), %%rsp\n\t" save_control "leaq 1f(%%rip), %%rax\n\t"            \
                 "pushq %%rbp\n\t"                                                                 \
                 "pushq %%rax\n\t"                                                                 \
                 "movq %%rsp, (%[save])\n\t"                                                       \
                 "movq (%[load]), %%rsp\n\t"                                                       \
                 "ldmxcsr 16(%%rsp)\n\t"                                                           \
                 "cmpw %%dx, 20(%%rsp)\n\t"                                                        \
                 "jne 2f\n\t"                                                                      \
                 "3:\n\t"                                                                          \
                 "popq %%rax\n\t"                                                                  \
                 "jmp *%%rax\n\t"                                                                  \
                 "2:\n\t"                                                                          \
                 "fnclex\n\t"                                                                      \
                 "fldcw 20(%%rsp)\n\t"                                                             \
                 "jmp 3b\n\t"                                                                      \
                 ".p2align 4\n"                                                                    \
                 "1:\n\t"                                                                          \
                 "endbr64\n\t"                                                                     \
                 "popq %%rbp\n\t"                                                                  \
                 "leaq 136(%%rsp), %%rsp"                                                          \
                 : [save] "+D"(save), [load] "+S"(load), edx                                       \
                 :                                                                                 \
                 : "rax", "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",      \
                   "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", \
                   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st",     \
                   "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)",                           \
                   "st(7)" TULLE_CONTEXT_CLOBBERS_WIDE)

inline void asm_backend::switch_to(context& from, context const& to) noexcept {
    void* save = &from;
    void const* load = &to;
    std::uint64_t x87_control;
    TULLE_SWITCH_CONTEXT("stmxcsr (%%rsp)\n\t"
                         "fnstcw 4(%%rsp)\n\t"
                         "movzwl 4(%%rsp), %%edx\n\t",
                         "=&d"(x87_control));
}

// What loops have (arch/control_at_rest.hpp). MXCSR is the lower half, and the x87 control word
// above it.
template <> class control_at_rest<asm_backend> {
public:
    control_at_rest() noexcept {
        std::uint32_t mxcsr = 0;
        std::uint16_t x87_control = 0;
        asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87_control));
        m_words = (std::uint64_t{x87_control} << 32U | mxcsr) & ~k_rounding;
    }
    // Reading MXCSR would cost a tenth of what a thread takes from its start to its join; the word
    // of the x87 is read next to it, where nothing is kept, to be compared.
    [[gnu::always_inline]] inline void switch_to(asm_backend::context& from,
                                                 asm_backend::context const& to) const noexcept {
        void* save = &from;
        void const* load = &to;
        std::uint64_t words = m_words;
        TULLE_SWITCH_CONTEXT("movq %%rdx, (%%rsp)\n\t"
                             "fnstcw 6(%%rsp)\n\t"
                             "movzwl 6(%%rsp), %%edx\n\t",
                             "+d"(words));
    }
    // What is suspended otherwise.
    static void begin_rounding(asm_backend::context& suspended) noexcept {
        std::uint64_t words = 0;
        asm volatile("movq 16(%[sp]), %[words]" : [words] "=r"(words) : [sp] "r"(suspended.sp));
        if (__builtin_expect(static_cast<long>((words & k_rounding) == 0), 1) != 0) return;
        asm volatile("movq %[words], 16(%[sp])"
                     :
                     : [words] "r"(words & ~k_rounding), [sp] "r"(suspended.sp)
                     : "memory");
    }
    static constexpr bool k_begins_rounding = true;

private:
    static constexpr std::uint64_t k_rounding = std::uint64_t{0x6000} | std::uint64_t{0xc00} << 32U;

    std::uint64_t m_words = 0;
};

#undef TULLE_SWITCH_CONTEXT
#undef TULLE_CONTEXT_CLOBBERS_WIDE

using assembly_backends = std::tuple<asm_backend>;

} // namespace tulle::arch
