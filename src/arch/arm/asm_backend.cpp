// SPDX-License-Identifier: Apache-2.0
#include "arch/asm_backend.hpp"

#include <cstdint>

#include "base/sanitize.hpp"

// The first code of every context, entered as a resume address is, in Arm state. The tables for
// exceptions say that nothing is to be unwound beyond it. Unwinders look up the instruction before
// the one they stopped at, hence the nop.
asm(R"(
    .syntax unified
    .arm
    .text
    .p2align 4
    .type tulle_context_entry, %function
    .fnstart
    .cantunwind
    nop
    .globl tulle_context_entry
    .hidden tulle_context_entry
tulle_context_entry:
    ldm sp!, {r3, r4}
    mov r0, r4
    mov lr, #0
    blx r3
    udf #0
    .fnend
    .size tulle_context_entry, . - tulle_context_entry
)");

extern "C" void tulle_context_entry();

namespace tulle::arch {
namespace {

// What the stack of a context holds before it runs; the first four fields are those of any
// suspended context.
struct first_frame {
    void* r7;
    void* r11;
    void (*resume)();
    std::uint32_t fpscr;
    void (*entry)(void*);
    void* argument;
};

static_assert(offsetof(first_frame, resume) == 8 && offsetof(first_frame, entry) == 16 &&
              sizeof(first_frame) == 24);

} // namespace

void asm_backend::make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                       void* argument) noexcept {
    constexpr std::uintptr_t k_alignment = 8;
    auto const top = (reinterpret_cast<std::uintptr_t>(stack_low) + size) & ~(k_alignment - 1);
    auto* const frame = reinterpret_cast<first_frame*>(top - sizeof(first_frame));
    *frame = first_frame{};
    frame->resume = &tulle_context_entry;
    asm volatile("vmrs %0, fpscr" : "=r"(frame->fpscr));
    frame->entry = entry;
    frame->argument = argument;
    made.sp = frame;
}

registers asm_backend::saved_registers(context const&) noexcept { return {}; }

} // namespace tulle::arch
