// SPDX-License-Identifier: Apache-2.0
#include "arch/asm_backend.hpp"

#include <cstdint>

#include "base/sanitize.hpp"

// The first code of every context, entered as a resume address is. The return address is undefined
// for the unwinder: the call chain ends here, and for a walk by frame pointers with ebp = 0.
// Unwinders look up the instruction before the one they stopped at, hence the nop.
asm(R"(
    .text
    .p2align 4
    .type tulle_context_entry, @function
    .cfi_startproc
    .cfi_undefined eip
    nop
    .globl tulle_context_entry
    .hidden tulle_context_entry
tulle_context_entry:
    movl 12(%esp), %eax
    xorl %ebp, %ebp
    leal 16(%esp), %esp
    call *%eax
    ud2
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
    void* ebp;
    std::uint32_t mxcsr;
    std::uint16_t x87_control;
    std::uint16_t padding;
    void (*entry)(void*);
    // At the call in the trampoline the stack pointer is its address, which the ABI wants
    // aligned
    void* argument;
    void* end[3];
};

static_assert(offsetof(first_frame, mxcsr) == 8 && offsetof(first_frame, x87_control) == 12 &&
              offsetof(first_frame, entry) == 16);
static_assert((sizeof(first_frame) - offsetof(first_frame, argument)) % 16 == 0);

} // namespace

void asm_backend::make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                       void* argument) noexcept {
    constexpr std::uintptr_t k_alignment = 16;
    auto const top = (reinterpret_cast<std::uintptr_t>(stack_low) + size) & ~(k_alignment - 1);
    auto* const frame = reinterpret_cast<first_frame*>(top - sizeof(first_frame));
    *frame = first_frame{};
    frame->resume = &tulle_context_entry;
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(frame->mxcsr), "=m"(frame->x87_control));
    frame->entry = entry;
    frame->argument = argument;
    made.sp = frame;
}

registers asm_backend::saved_registers(context const&) noexcept { return {}; }

} // namespace tulle::arch
