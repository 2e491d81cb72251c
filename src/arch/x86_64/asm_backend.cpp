// SPDX-License-Identifier: Apache-2.0
#include "arch/asm_backend.hpp"

#include <cstdint>

#include "base/sanitize.hpp"

// The first code of every context. The stack pointer stands one word above the resume address (see
// the layout in the header), at the dead rbp. The return address is undefined for the unwinder: the
// call chain ends here. Unwinders look up the instruction before the one they stopped at, hence the
// nop in front of the label.
asm(R"(
    .text
    .p2align 4
    .type tulle_context_entry, @function
    .cfi_startproc
    .cfi_undefined rip
    nop
    .globl tulle_context_entry
    .hidden tulle_context_entry
tulle_context_entry:
    endbr64
    movq 16(%rsp), %rax
    movq 24(%rsp), %rdi
    xorl %ebp, %ebp
    leaq 32(%rsp), %rsp
    call *%rax
    ud2
    .cfi_endproc
    .size tulle_context_entry, . - tulle_context_entry
)");

extern "C" void tulle_context_entry();

namespace tulle::arch {
namespace {

// What the stack of a context holds before it runs; the first three fields are those of any
// suspended context.
struct first_frame {
    void (*resume)();
    void* rbp;
    std::uint32_t mxcsr;
    std::uint16_t x87_control;
    std::uint16_t padding;
    void (*entry)(void*);
    void* argument;
    void* end_of_chain[2]; // what a frame-pointer walk reads above the trampoline's frame
    void* alignment;
};

static_assert(offsetof(first_frame, mxcsr) == 16 && offsetof(first_frame, x87_control) == 20);
static_assert(offsetof(first_frame, end_of_chain) == 40,
              "the trampoline drops 32 bytes after the resume address");

} // namespace

void asm_backend::make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                       void* argument) noexcept {
    constexpr std::uintptr_t k_alignment = 16;
    auto const top = (reinterpret_cast<std::uintptr_t>(stack_low) + size) & ~(k_alignment - 1);
    // At the call in the trampoline the stack pointer is the address of end_of_chain, which the ABI
    // wants aligned.
    auto const address = ((top - sizeof(first_frame)) & ~(k_alignment - 1)) -
                         offsetof(first_frame, end_of_chain) % 16;
    auto* const frame = reinterpret_cast<first_frame*>(address);
    *frame = first_frame{};
    frame->resume = &tulle_context_entry;
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(frame->mxcsr), "=m"(frame->x87_control));
    frame->entry = entry;
    frame->argument = argument;
    made.sp = frame;
}

TULLE_NO_SANITIZE registers asm_backend::saved_registers(context const& suspended) noexcept {
    auto const* const words = static_cast<std::uintptr_t const*>(suspended.sp);
    auto const sp = reinterpret_cast<std::uintptr_t>(words);
    bool const is_fresh = words[0] == reinterpret_cast<std::uintptr_t>(&tulle_context_entry);
    return registers_of(
        code_point{words[0], sp + (is_fresh ? sizeof(void*) : k_saved_bytes), words[1]});
}

} // namespace tulle::arch
