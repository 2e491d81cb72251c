// SPDX-License-Identifier: Apache-2.0
// Context switch for RISC-V with 64-bit registers and the D extension, RISC-V ELF psABI (chapter on
// calling conventions), as inline assembly.
//
// Inlined into its caller and left by an indirect jump, as on x86-64 (x86_64/asm_backend.hpp says
// why). What a called function would save (s1 to s11, fs0 to fs11) is declared clobbered, so the
// compiler keeps only what is live. A suspended context is one word, the stack pointer:
//
//     sp + 0    resume address         sp + 16   fcsr (rounding mode and flags, 4 bytes)
//     sp + 8    s0, the frame pointer
//     the interrupted function's own stack pointer is sp + 32; there is no red zone
//
// gp and tp, the thread pointer, are left alone. A debugger unwinds a suspended context from {pc =
// [sp], s0 = [sp + 8], sp + 32}; all else is dead there.
#pragma once

namespace tulle::arch {

#if defined(__riscv_vector)
#define TULLE_CONTEXT_CLOBBERS_WIDE                                                                \
    , "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",      \
        "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", \
        "v27", "v28", "v29", "v30", "v31", "vl", "vtype"
#else
#define TULLE_CONTEXT_CLOBBERS_WIDE
#endif

inline std::size_t const asm_backend::k_saved_bytes = 32;

inline void asm_backend::switch_to(context& from, context const& to) noexcept {
    register void* save asm("a0") = &from;
    register void const* load asm("a1") = &to;
    asm volatile("lla t3, 1f\n\t"
                 "addi sp, sp, -32\n\t"
                 "frcsr t1\n\t"
                 "sd t3, 0(sp)\n\t"
                 "sd s0, 8(sp)\n\t"
                 "sd t1, 16(sp)\n\t"
                 "sd sp, 0(%[save])\n\t"
                 "ld sp, 0(%[load])\n\t"
                 "ld t3, 0(sp)\n\t"
                 "ld s0, 8(sp)\n\t"
                 "ld t2, 16(sp)\n\t"
                 "beq t1, t2, 2f\n\t" // to write fcsr may drain the pipeline
                 "fscsr t2\n"
                 "2:\n\t"
                 "jr t3\n" // t0 would be taken for a return
                 "1:\n\t"
                 "addi sp, sp, 32"
                 : [save] "+r"(save), [load] "+r"(load)
                 :
                 : "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a2", "a3", "a4", "a5", "a6",
                   "a7", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "ft0",
                   "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9", "ft10", "ft11",
                   "fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7", "fs0", "fs1", "fs2",
                   "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11",
                   "memory" TULLE_CONTEXT_CLOBBERS_WIDE);
}

#undef TULLE_CONTEXT_CLOBBERS_WIDE

using assembly_backends = std::tuple<asm_backend>;

} // namespace tulle::arch
