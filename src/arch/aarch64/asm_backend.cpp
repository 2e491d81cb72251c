// SPDX-License-Identifier: Apache-2.0
#include "arch/asm_backend.hpp"

#include <cstdint>

#include "base/sanitize.hpp"

// The first code of every context, entered as a resume address is. The return address is undefined
// for the unwinder: the call chain ends here, and for a walk by frame pointers with x29 = 0.
// Unwinders look up the instruction before the one they stopped at, hence the nop.
asm(R"(
    .text
    .p2align 4
    .type tulle_context_entry, %function
    .cfi_startproc
    .cfi_undefined x30
    nop
    .globl tulle_context_entry
    .hidden tulle_context_entry
tulle_context_entry:
    hint #38                    // bti jc
    ldp x9, x0, [sp, #32]
    mov x29, xzr
    mov x30, xzr
    add sp, sp, #48
    blr x9
    brk #1
    .cfi_endproc
    .size tulle_context_entry, . - tulle_context_entry
)");

extern "C" void tulle_context_entry();

namespace tulle::arch {
namespace {

// What the stack of a context holds before it runs; the first four fields are those of any
// suspended context.
struct first_frame {
    std::uintptr_t resume;
    void* x29;
    std::uint64_t fpcr;
    std::uint64_t padding;
    void (*entry)(void*);
    void* argument;
};

static_assert(offsetof(first_frame, fpcr) == 16 && offsetof(first_frame, entry) == 32 &&
              sizeof(first_frame) == 48);

#if defined(__ARM_FEATURE_PAC_DEFAULT)
std::uintptr_t sign(std::uintptr_t pc, void const* modifier) noexcept {
    register std::uintptr_t pointer asm("x17") = pc;
    register void const* tweak asm("x16") = modifier;
    asm("hint #8" : "+r"(pointer) : "r"(tweak)); // pacia1716
    return pointer;
}
#else
std::uintptr_t sign(std::uintptr_t pc, void const*) noexcept { return pc; }
#endif

} // namespace

void asm_backend::make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                       void* argument) noexcept {
    constexpr std::uintptr_t k_alignment = 16;
    auto const top = (reinterpret_cast<std::uintptr_t>(stack_low) + size) & ~(k_alignment - 1);
    auto* const frame = reinterpret_cast<first_frame*>(top - sizeof(first_frame));
    *frame = first_frame{};
    frame->resume = sign(reinterpret_cast<std::uintptr_t>(&tulle_context_entry), frame);
    asm volatile("mrs %0, fpcr" : "=r"(frame->fpcr));
    frame->entry = entry;
    frame->argument = argument;
    made.sp = frame;
}

TULLE_NO_SANITIZE registers asm_backend::saved_registers(context const& suspended) noexcept {
    auto const* const words = static_cast<std::uintptr_t const*>(suspended.sp);
    auto const sp = reinterpret_cast<std::uintptr_t>(words);
    auto const pc = code_address(words[0]);
    bool const is_fresh = pc == reinterpret_cast<std::uintptr_t>(&tulle_context_entry);
    return registers_of(code_point{pc, sp + (is_fresh ? 0 : k_saved_bytes), words[1]});
}

} // namespace tulle::arch
