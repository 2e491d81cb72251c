// SPDX-License-Identifier: Apache-2.0
#include "arch/asm_backend.hpp"

#include <cstdint>

#include "base/sanitize.hpp"

// The first code of every context, entered as a resume address is. The return address is undefined
// for the unwinder: the call chain ends here, and for a walk by back chains with a word of 0.
// Unwinders look up the instruction before the one they stopped at, hence the nop.
asm(R"(
    .text
    .p2align 4
    .type tulle_context_entry, @function
    .cfi_startproc
    .cfi_undefined 14
    nop
    .globl tulle_context_entry
    .hidden tulle_context_entry
tulle_context_entry:
    lg %r1, 40(%r15)
    lg %r2, 48(%r15)
    aghi %r15, 56
    xc 0(8, %r15), 0(%r15)
    basr %r14, %r1
    j .+2
    .cfi_endproc
    .size tulle_context_entry, . - tulle_context_entry
)");

extern "C" void tulle_context_entry();

namespace tulle::arch {
namespace {

// What the stack of a context holds before it runs; the first five fields are those of any
// suspended context.
struct first_frame {
    void (*resume)();
    void* r11_to_r13[3];
    std::uint32_t fpc;
    std::uint32_t padding;
    void (*entry)(void*);
    void* argument;
    void* save_area_of_callee[20];
};

static_assert(offsetof(first_frame, fpc) == 32 && offsetof(first_frame, save_area_of_callee) == 56);

} // namespace

void asm_backend::make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                       void* argument) noexcept {
    constexpr std::uintptr_t k_alignment = 8;
    auto const top = (reinterpret_cast<std::uintptr_t>(stack_low) + size) & ~(k_alignment - 1);
    auto* const frame = reinterpret_cast<first_frame*>(top - sizeof(first_frame));
    *frame = first_frame{};
    frame->resume = &tulle_context_entry;
    asm volatile("stfpc %0" : "=Q"(frame->fpc));
    frame->entry = entry;
    frame->argument = argument;
    made.sp = frame;
}

registers asm_backend::saved_registers(context const&) noexcept { return {}; }

} // namespace tulle::arch
