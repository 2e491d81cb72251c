// SPDX-License-Identifier: Apache-2.0
// Context switch for z/Architecture, ELF Application Binary Interface s390x Supplement (sections
// 1.2 and 1.3), as inline assembly.
//
// Inlined into its caller and left by an indirect jump, as on x86-64 (x86_64/asm_backend.hpp says
// why). What a called function would save (r6 to r10, f8 to f15) is declared clobbered, but for r11
// to r13, which compilers use as frame, GOT and literal pool pointers. A suspended context is one
// word, the stack pointer:
//
//     sp + 0    resume address         sp + 8    r11, r12, r13
//     sp + 32   floating-point control register (4 bytes)
//     the interrupted function's own stack pointer is sp + 40; below it nothing is in use, above it
//     lies the save area of its callees
//
// The access registers a0 and a1, which hold the thread pointer, are left alone.
#pragma once

namespace tulle::arch {

#if defined(__VX__)
#define TULLE_CONTEXT_CLOBBERS_WIDE                                                                \
    , "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",   \
        "v29", "v30", "v31"
#else
#define TULLE_CONTEXT_CLOBBERS_WIDE
#endif

inline std::size_t const asm_backend::k_saved_bytes = 40;

inline void asm_backend::switch_to(context& from, context const& to) noexcept {
    register void* save asm("r2") = &from;
    register void const* load asm("r3") = &to;
    asm volatile("larl %%r10, 1f\n\t"
                 "aghi %%r15, -40\n\t"
                 "efpc %%r0\n\t"
                 "stmg %%r10, %%r13, 0(%%r15)\n\t"
                 "st %%r0, 32(%%r15)\n\t"
                 "stg %%r15, 0(%[save])\n\t"
                 "lg %%r15, 0(%[load])\n\t"
                 "l %%r1, 32(%%r15)\n\t"
                 "lmg %%r10, %%r13, 0(%%r15)\n\t"
                 "cr %%r0, %%r1\n\t"
                 "je 2f\n\t"
                 "sfpc %%r1\n"
                 "2:\n\t"
                 "br %%r10\n"
                 "1:\n\t"
                 "aghi %%r15, 40"
                 : [save] "+a"(save), [load] "+a"(load)
                 :
                 : "r0", "r1", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r14", "f0", "f1", "f2",
                   "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12", "f13", "f14",
                   "f15", "memory", "cc" TULLE_CONTEXT_CLOBBERS_WIDE);
}

#undef TULLE_CONTEXT_CLOBBERS_WIDE

using assembly_backends = std::tuple<asm_backend>;

} // namespace tulle::arch
