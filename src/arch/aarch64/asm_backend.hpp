// SPDX-License-Identifier: Apache-2.0
// Context switch for AArch64, Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64,
// section 6.1), as inline assembly.
//
// Inlined into its caller and left by an indirect jump, as on x86-64 (x86_64/asm_backend.hpp says
// why). What a called function would save (x19 to x28, d8 to d15) is declared clobbered, so the
// compiler keeps only what is live. A suspended context is one word, the stack pointer:
//
//     sp + 0    resume address         sp + 16   FPCR
//     sp + 8    x29
//     the interrupted function's own stack pointer is sp + 32; there is no red zone
//
// In code made for pointer authentication (-mbranch-protection=pac-ret or standard) the resume
// address on the stack is signed with the address that it lies at, like any return address; it
// lands on a `bti j`. TPIDR_EL0 stays with the OS thread.
// A debugger unwinds a suspended context from {pc = [sp], x29 = [sp + 8], sp + 32}; all else is
// dead there.
#pragma once

namespace tulle::arch {

// As hints, which older processors ignore: PACIA1716, AUTIA1716 (x17 is signed, x16 is the
// modifier).
#if defined(__ARM_FEATURE_PAC_DEFAULT)
#define TULLE_CONTEXT_SIGN "mov x16, sp\n\thint #8\n\t"
#define TULLE_CONTEXT_AUTHENTICATE "mov x16, sp\n\thint #12\n\t"
#else
#define TULLE_CONTEXT_SIGN
#define TULLE_CONTEXT_AUTHENTICATE
#endif
#if defined(__ARM_FEATURE_BTI_DEFAULT)
#define TULLE_CONTEXT_LANDING "hint #36\n\t" // bti j
#else
#define TULLE_CONTEXT_LANDING
#endif
#if defined(__ARM_FEATURE_SVE)
#define TULLE_CONTEXT_CLOBBERS_WIDE                                                                \
    , "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13",      \
        "p14", "p15"
#else
#define TULLE_CONTEXT_CLOBBERS_WIDE
#endif

inline std::size_t const asm_backend::k_saved_bytes = 32;

inline void asm_backend::switch_to(context& from, context const& to) noexcept {
    register void* save asm("x0") = &from;
    register void const* load asm("x1") = &to;
    asm volatile("adr x17, 1f\n\t"
                 "sub sp, sp, #32\n\t"
                 "mrs x9, fpcr\n\t" TULLE_CONTEXT_SIGN "stp x17, x29, [sp]\n\t"
                 "str x9, [sp, #16]\n\t"
                 "mov x10, sp\n\t"
                 "str x10, [%[save]]\n\t"
                 "ldr x10, [%[load]]\n\t"
                 "ldr x11, [x10, #16]\n\t"
                 "mov sp, x10\n\t"
                 "ldp x17, x29, [sp]\n\t" TULLE_CONTEXT_AUTHENTICATE "cmp x9, x11\n\t"
                 "b.eq 2f\n\t" // to write FPCR drains the pipeline
                 "msr fpcr, x11\n"
                 "2:\n\t"
                 "br x17\n"
                 "1:\n\t" TULLE_CONTEXT_LANDING "add sp, sp, #32"
                 : [save] "+r"(save), [load] "+r"(load)
                 :
                 : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
                   "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24",
                   "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6",
                   "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18",
                   "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29",
                   "v30", "v31", "memory", "cc" TULLE_CONTEXT_CLOBBERS_WIDE);
}

#undef TULLE_CONTEXT_SIGN
#undef TULLE_CONTEXT_AUTHENTICATE
#undef TULLE_CONTEXT_LANDING
#undef TULLE_CONTEXT_CLOBBERS_WIDE

using assembly_backends = std::tuple<asm_backend>;

} // namespace tulle::arch
