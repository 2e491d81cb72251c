// SPDX-License-Identifier: Apache-2.0
//
// makecontext for x86-64: what the stack of a context and its registers hold before it runs. Six
// arguments are in registers and the others on the stack, where the return address leads to the
// code that goes on with uc_link. That is read here, as the C library does.
#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include <ucontext.h>

#include "compat/ucontext/arch/x86_64/offsets.h"
#include "compat/ucontext/switch.hpp"

#define TULLE_AT(member, offset) static_assert(offsetof(ucontext_t, member) == (offset))
TULLE_AT(uc_link, UC_LINK);
TULLE_AT(uc_mcontext.gregs[REG_R8], UC_R8);
TULLE_AT(uc_mcontext.gregs[REG_R9], UC_R9);
TULLE_AT(uc_mcontext.gregs[REG_R12], UC_R12);
TULLE_AT(uc_mcontext.gregs[REG_R13], UC_R13);
TULLE_AT(uc_mcontext.gregs[REG_R14], UC_R14);
TULLE_AT(uc_mcontext.gregs[REG_R15], UC_R15);
TULLE_AT(uc_mcontext.gregs[REG_RDI], UC_RDI);
TULLE_AT(uc_mcontext.gregs[REG_RSI], UC_RSI);
TULLE_AT(uc_mcontext.gregs[REG_RBP], UC_RBP);
TULLE_AT(uc_mcontext.gregs[REG_RBX], UC_RBX);
TULLE_AT(uc_mcontext.gregs[REG_RDX], UC_RDX);
TULLE_AT(uc_mcontext.gregs[REG_RCX], UC_RCX);
TULLE_AT(uc_mcontext.gregs[REG_RSP], UC_RSP);
TULLE_AT(uc_mcontext.gregs[REG_RIP], UC_RIP);
TULLE_AT(uc_mcontext.gregs[REG_TRAPNO], UC_TRAPNO);
TULLE_AT(uc_mcontext.fpregs, UC_FPREGS);
TULLE_AT(uc_sigmask, UC_SIGMASK);
TULLE_AT(__fpregs_mem, UC_X87_CONTROL);
TULLE_AT(__fpregs_mem.mxcsr, UC_MXCSR);
#undef TULLE_AT

namespace {

constexpr std::uintptr_t k_alignment = 16;
constexpr std::array k_register_of_argument{REG_RDI, REG_RSI, REG_RDX, REG_RCX, REG_R8, REG_R9};

greg_t number_of(void const* pointer) {
    return static_cast<greg_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

/// The lowest word of the first frame, where the stack pointer stands when the function begins: a
/// return address, arguments that are not in registers, uc_link.
void** first_frame(ucontext_t const& made, std::size_t arguments_on_stack) {
    auto const top = reinterpret_cast<std::uintptr_t>(made.uc_stack.ss_sp) + made.uc_stack.ss_size;
    auto const above_return_address =
        (top - (arguments_on_stack + 1) * sizeof(void*)) & ~(k_alignment - 1);
    return reinterpret_cast<void**>(above_return_address) - 1;
}

} // namespace

extern "C" void makecontext(ucontext_t* made, void (*entry)(), int argc, ...) noexcept {
    auto const count = argc < 0 ? std::size_t{0} : static_cast<std::size_t>(argc);
    std::size_t const in_registers = k_register_of_argument.size();
    std::size_t const on_stack = count > in_registers ? count - in_registers : 0;
    void** const frame = first_frame(*made, on_stack);
    greg_t* const registers = &made->uc_mcontext.gregs[0];

    va_list arguments;
    va_start(arguments, argc);
    for (std::size_t k = 0; k < count; ++k) {
        // Programs pass pointers and longs, too: whole words, whatever lies above an int.
        long const value = va_arg(arguments, long);
        if (k < in_registers)
            registers[k_register_of_argument.at(k)] = value;
        else
            frame[1 + k - in_registers] = reinterpret_cast<void*>(value);
    }
    va_end(arguments);

    frame[0] = reinterpret_cast<void*>(&tulle_ucontext_after_entry);
    frame[1 + on_stack] = made->uc_link;
    registers[REG_RBX] = number_of(&frame[1 + on_stack]);
    registers[REG_RBP] = 0; // a walk along frame pointers ends here
    registers[REG_RSP] = number_of(frame);
    registers[REG_RIP] = number_of(reinterpret_cast<void*>(entry));
}
