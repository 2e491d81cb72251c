// SPDX-License-Identifier: Apache-2.0
// Context switch for 32-bit Arm with hardware floating point, Procedure Call Standard for the Arm
// Architecture (AAPCS, sections 6.1 and 7.1), as inline assembly, for Arm and for Thumb-2 code.
//
// Inlined into its caller and left by an indirect jump, as on x86-64 (x86_64/asm_backend.hpp says
// why). What a called function would save (r4 to r10, d8 to d15) is declared clobbered, but for the
// two registers that compilers use as frame pointer. A suspended context is one word, the stack
// pointer:
//
//     sp + 0    r7                     sp + 8    resume address (bit 0: Thumb code)
//     sp + 4    r11                    sp + 12   FPSCR
//     the interrupted function's own stack pointer is sp + 16; there is no red zone
#pragma once

namespace tulle::arch {

#if defined(__thumb__)
#define TULLE_CONTEXT_MARK_THUMB "\n\torr r12, r12, #1"
#else
#define TULLE_CONTEXT_MARK_THUMB
#endif
#if defined(__ARM_NEON)
#define TULLE_CONTEXT_CLOBBERS_WIDE                                                                \
    , "d16", "d17", "d18", "d19", "d20", "d21", "d22", "d23", "d24", "d25", "d26", "d27", "d28",   \
        "d29", "d30", "d31"
#else
#define TULLE_CONTEXT_CLOBBERS_WIDE
#endif

inline std::size_t const asm_backend::k_saved_bytes = 16;

inline void asm_backend::switch_to(context& from, context const& to) noexcept {
    register void* save asm("r0") = &from;
    register void const* load asm("r1") = &to;
    asm volatile(".syntax unified\n\t"
                 "adr r12, 1f" TULLE_CONTEXT_MARK_THUMB "\n\t"
                 "vmrs r2, fpscr\n\t"
                 "mov lr, r2\n\t"
                 "push {r7, r11, r12, lr}\n\t"
                 "mov r3, sp\n\t"
                 "str r3, [%[save]]\n\t"
                 "ldr r3, [%[load]]\n\t"
                 "mov sp, r3\n\t"
                 "pop {r7, r11, r12, lr}\n\t"
                 "cmp lr, r2\n\t"
                 "it ne\n\t"
                 "vmsrne fpscr, lr\n\t" // to write it drains the pipeline
                 "bx r12\n\t"
                 ".p2align 2\n"
                 "1:"
                 : [save] "+r"(save), [load] "+r"(load)
                 :
                 : "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "lr", "memory", "cc",
                   "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10", "d11", "d12",
                   "d13", "d14", "d15" TULLE_CONTEXT_CLOBBERS_WIDE);
}

#undef TULLE_CONTEXT_MARK_THUMB
#undef TULLE_CONTEXT_CLOBBERS_WIDE

using assembly_backends = std::tuple<asm_backend>;

} // namespace tulle::arch
