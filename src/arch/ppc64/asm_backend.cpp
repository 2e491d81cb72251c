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
    .cfi_undefined 65
    nop
    .globl tulle_context_entry
    .hidden tulle_context_entry
tulle_context_entry:
    ld 12, 80(1)
    ld 11, 88(1)
    ld 3, 96(1)
    addi 1, 1, 112
    li 0, 0
    std 0, 0(1)
    mtctr 12
    bctrl
    trap
    .cfi_endproc
    .size tulle_context_entry, . - tulle_context_entry
)");

// code, not a function: with ELFv1 the address of a function is its descriptor's
extern "C" char const tulle_context_entry[];

namespace tulle::arch {
namespace {

// What the stack of a context holds before it runs; the first six fields are those of any
// suspended context.
struct first_frame {
    void* back_chain;
    void* header[5];
    void const* resume;
    void* r31;
    std::uintptr_t toc;
    double fpscr;
    std::uintptr_t code;
    std::uintptr_t environment;
    void* argument;
    std::uintptr_t padding;
    void* frame_of_entry[14]; // the larger one of both ABIs: header and parameter save area
};

static_assert(offsetof(first_frame, resume) == 48 && offsetof(first_frame, toc) == 64 &&
              offsetof(first_frame, code) == 80);
static_assert(offsetof(first_frame, frame_of_entry) == 112 && sizeof(first_frame) % 16 == 0);

// What a call by pointer loads into registers.
struct function {
    std::uintptr_t code, toc, environment;
};

#if _CALL_ELF == 2
// Finds its TOC itself.
function function_of(void (*entry)(void*)) noexcept {
    return {reinterpret_cast<std::uintptr_t>(entry), 0, 0};
}
#else
// Its descriptor.
function function_of(void (*entry)(void*)) noexcept {
    return *reinterpret_cast<function const*>(entry);
}
#endif

} // namespace

void asm_backend::make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                       void* argument) noexcept {
    constexpr std::uintptr_t k_alignment = 16;
    auto const top = (reinterpret_cast<std::uintptr_t>(stack_low) + size) & ~(k_alignment - 1);
    auto* const frame = reinterpret_cast<first_frame*>(top - sizeof(first_frame));
    *frame = first_frame{};
    function const called = function_of(entry);
    frame->resume = tulle_context_entry;
    frame->toc = called.toc;
    asm volatile("mffs %0" : "=d"(frame->fpscr));
    frame->code = called.code;
    frame->environment = called.environment;
    frame->argument = argument;
    made.sp = frame;
}

TULLE_NO_SANITIZE registers asm_backend::saved_registers(context const& suspended) noexcept {
    auto const* const frame = static_cast<first_frame const*>(suspended.sp);
    auto const sp = reinterpret_cast<std::uintptr_t>(frame);
    bool const is_fresh = frame->resume == tulle_context_entry;
    return registers_of(code_point{reinterpret_cast<std::uintptr_t>(frame->resume),
                                   sp + (is_fresh ? 0 : k_saved_bytes),
                                   reinterpret_cast<std::uintptr_t>(frame->r31)});
}

#if !defined(__ALTIVEC__)
[[gnu::noinline, gnu::target("altivec")]] void
switch_keeping_vectors(asm_backend::context& from, asm_backend::context const& to) noexcept {
    switch_inline(from, to);
}
#endif

} // namespace tulle::arch
