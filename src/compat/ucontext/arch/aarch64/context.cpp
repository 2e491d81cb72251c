// SPDX-License-Identifier: Apache-2.0
//
// makecontext for aarch64: what the stack of a context and its registers hold before it runs. Eight
// arguments are in registers and the others on the stack; the function returns to the code that
// goes on with uc_link, which is kept in x19 and is read here, as the C library does.
#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include <ucontext.h>

#include "compat/ucontext/arch/aarch64/offsets.h"
#include "compat/ucontext/switch.hpp"

#define TULLE_AT(member, offset) static_assert(offsetof(ucontext_t, member) == (offset))
TULLE_AT(uc_sigmask, UC_SIGMASK);
TULLE_AT(uc_mcontext.fault_address, UC_FAULT_ADDRESS);
TULLE_AT(uc_mcontext.regs, UC_REGISTERS);
TULLE_AT(uc_mcontext.sp, UC_SP);
TULLE_AT(uc_mcontext.pc, UC_PC);
TULLE_AT(uc_mcontext.pstate, UC_PSTATE);
TULLE_AT(uc_mcontext.__reserved, UC_FP_RECORD);
#undef TULLE_AT

namespace {

constexpr std::uintptr_t k_alignment = 16;
constexpr std::size_t k_in_registers = 8;
constexpr std::size_t k_link = 19;
constexpr std::size_t k_frame_pointer = 29;
constexpr std::size_t k_return_address = 30;

std::uint64_t number_of(void const* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

/// Where the stack pointer stands when the function begins, at the first argument on the stack.
long* first_frame(ucontext_t const& made, std::size_t arguments_on_stack) {
    auto const top = number_of(made.uc_stack.ss_sp) + made.uc_stack.ss_size;
    return reinterpret_cast<long*>((top - arguments_on_stack * sizeof(long)) & ~(k_alignment - 1));
}

} // namespace

extern "C" void makecontext(ucontext_t* made, void (*entry)(), int argc, ...) noexcept {
    auto const count = argc < 0 ? std::size_t{0} : static_cast<std::size_t>(argc);
    long* const frame = first_frame(*made, count > k_in_registers ? count - k_in_registers : 0);
    auto& registers = made->uc_mcontext.regs;

    va_list arguments;
    va_start(arguments, argc);
    for (std::size_t k = 0; k < count; ++k) {
        // Programs pass pointers and longs, too: whole words, whatever lies above an int.
        long const value = va_arg(arguments, long);
        if (k < k_in_registers)
            registers[k] = static_cast<std::uint64_t>(value);
        else
            frame[k - k_in_registers] = value;
    }
    va_end(arguments);

    registers[k_link] = number_of(made->uc_link);
    registers[k_frame_pointer] = 0; // a walk along frame pointers ends here
    registers[k_return_address] = number_of(reinterpret_cast<void*>(&tulle_ucontext_after_entry));
    made->uc_mcontext.sp = number_of(frame);
    made->uc_mcontext.pc = number_of(reinterpret_cast<void*>(entry));
}
