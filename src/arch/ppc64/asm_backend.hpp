// SPDX-License-Identifier: Apache-2.0
// Context switch for 64-bit Power, as inline assembly: both for little-endian code (64-Bit ELF V2
// ABI, section 2.2) and for big-endian code (64-bit PowerPC ELF ABI Supplement 1.9, "ELFv1",
// chapter 3).
//
// Inlined into its caller and left by an indirect jump, as on x86-64 (x86_64/asm_backend.hpp says
// why). What a called function would save (r14 to r30, f14 to f31, v20 to v31, CR2 to CR4) is
// declared clobbered, so the compiler keeps only what is live: vectors too, whatever VRSAVE says. A
// suspended context is one word, the stack pointer r1:
//
//     r1 + 0    back chain             r1 + 64   r2, the TOC pointer
//     r1 + 48   resume address         r1 + 72   FPSCR
//     r1 + 56   r31                    r1 + 80   512 bytes, the red zone of the interrupted
//                                                function
//     the interrupted function's own r1 is at + 592
//
// r13, the thread pointer, is left alone.
#pragma once

namespace tulle::arch {

#if defined(_ARCH_PWR6)
#define TULLE_CONTEXT_LOAD_FPSCR "mtfsf 255, 0, 1, 0" // all of it, decimal rounding mode included
#else
#define TULLE_CONTEXT_LOAD_FPSCR "mtfsf 255, 0"
#endif

inline std::size_t const asm_backend::k_saved_bytes = 592;

[[gnu::always_inline]] inline void switch_inline(asm_backend::context& from,
                                                 asm_backend::context const& to) noexcept {
    register void* save asm("r3") = &from;
    register void const* load asm("r4") = &to;
    asm volatile("bcl 20, 31, 4f\n" // the form of call that no return predictor counts
                 "4:\n\t"
                 "mflr 9\n\t"
                 "addi 9, 9, 1f-4b\n\t"
                 "mffs 0\n\t"
                 "stdu 1, -592(1)\n\t"
                 "std 9, 48(1)\n\t"
                 "std 31, 56(1)\n\t"
                 "std 2, 64(1)\n\t"
                 "stfd 0, 72(1)\n\t"
                 "std 1, 0(%[save])\n\t"
                 "ld 1, 0(%[load])\n\t"
                 "lfd 0, 72(1)\n\t"
                 "ld 9, 48(1)\n\t"
                 "ld 31, 56(1)\n\t"
                 "ld 2, 64(1)\n\t" TULLE_CONTEXT_LOAD_FPSCR "\n\t"
                 "mtctr 9\n\t"
                 "bctr\n"
                 "1:\n\t"
                 "addi 1, 1, 592"
                 : [save] "+b"(save), [load] "+b"(load)
                 :
                 : "r0", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r14", "r15", "r16",
                   "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27",
                   "r28", "r29", "r30", "lr", "ctr", "xer", "cr0", "cr1", "cr2", "cr3", "cr4",
                   "cr5", "cr6", "cr7", "fr0", "fr1", "fr2", "fr3", "fr4", "fr5", "fr6", "fr7",
                   "fr8", "fr9", "fr10", "fr11", "fr12", "fr13", "fr14", "fr15", "fr16", "fr17",
                   "fr18", "fr19", "fr20", "fr21", "fr22", "fr23", "fr24", "fr25", "fr26", "fr27",
                   "fr28", "fr29", "fr30", "fr31", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",
                   "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19",
                   "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",
                   "v31", "memory");
}

#undef TULLE_CONTEXT_LOAD_FPSCR

#if defined(__ALTIVEC__)
inline void asm_backend::switch_to(context& from, context const& to) noexcept {
    switch_inline(from, to);
}
#else
void switch_keeping_vectors(asm_backend::context& from, asm_backend::context const& to) noexcept;

// In code that is made for processors without vector registers the compiler does not save them for
// us.
inline void asm_backend::switch_to(context& from, context const& to) noexcept {
    if (__builtin_cpu_supports("altivec")) {
        switch_keeping_vectors(from, to);
    } else {
        switch_inline(from, to);
    }
}
#endif

using assembly_backends = std::tuple<asm_backend>;

} // namespace tulle::arch
