// SPDX-License-Identifier: Apache-2.0
#include "arch/asm_backend.hpp"

#include <cstdint>

#include "base/sanitize.hpp"

// The first code of every context, entered as a resume address is. The return address is undefined
// for the unwinder: the call chain ends here, and for a walk by frame pointers with s0 = 0.
// Unwinders look up the instruction before the one they stopped at, hence the nop.
asm(R"(
    .text
    .p2align 4
    .type tulle_context_entry, %function
    .cfi_startproc
    .cfi_undefined ra
    nop
    .globl tulle_context_entry
    .hidden tulle_context_entry
tulle_context_entry:
    ld t3, 32(sp)
    ld a0, 40(sp)
    li s0, 0
    li ra, 0
    addi sp, sp, 48
    jalr t3
    ebreak
    .cfi_endproc
    .size tulle_context_entry, . - tulle_context_entry
)");

extern "C" void tulle_context_entry();

namespace tulle::arch {
namespace {

// What the stack of a context holds before it runs; the first four fields are those of any
// suspended context.
struct first_frame {
    void (*resume)();
    void* s0;
    std::uint64_t fcsr;
    std::uint64_t padding;
    void (*entry)(void*);
    void* argument;
};

static_assert(offsetof(first_frame, fcsr) == 16 && offsetof(first_frame, entry) == 32 &&
              sizeof(first_frame) == 48);

} // namespace

void asm_backend::make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                       void* argument) noexcept {
    constexpr std::uintptr_t k_alignment = 16;
    auto const top = (reinterpret_cast<std::uintptr_t>(stack_low) + size) & ~(k_alignment - 1);
    auto* const frame = reinterpret_cast<first_frame*>(top - sizeof(first_frame));
    *frame = first_frame{};
    frame->resume = &tulle_context_entry;
    asm volatile("frcsr %0" : "=r"(frame->fcsr));
    frame->entry = entry;
    frame->argument = argument;
    made.sp = frame;
}

TULLE_NO_SANITIZE registers asm_backend::saved_registers(context const& suspended) noexcept {
    auto const* const words = static_cast<std::uintptr_t const*>(suspended.sp);
    auto const sp = reinterpret_cast<std::uintptr_t>(words);
    bool const is_fresh = words[0] == reinterpret_cast<std::uintptr_t>(&tulle_context_entry);
    return registers_of(code_point{words[0], sp + (is_fresh ? 0 : k_saved_bytes), words[1]});
}

} // namespace tulle::arch
