// SPDX-License-Identifier: Apache-2.0
// Built without _FORTIFY_SOURCE: its longjmp check takes a jump to another stack for a jump into a
// dead frame.
#undef _FORTIFY_SOURCE
#include "arch/setjmp_backend.hpp"

#include <csetjmp>

#include "arch/ucontext_backend.hpp"
#include "base/sanitize.hpp"

namespace tulle::arch {
namespace {

// Where a suspended stack goes on: by longjmp, or, the first time, by the ucontext that was made
// for it.
struct resume_point {
    std::jmp_buf registers;
    // The C library encodes the addresses in jmp_buf; this is for unwinding. pc 0: not started.
    code_point where;
    bool started;
    ucontext_backend::context first;
};

void resume(setjmp_backend::context const& to) noexcept {
    auto* const point = static_cast<resume_point*>(to.saved);
    if (point->started) {
        ::_longjmp(point->registers, 1);
    }
    ucontext_backend::set(point->first);
}

} // namespace

void setjmp_backend::make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                          void* argument) noexcept {
    constexpr std::size_t k_reserved = (sizeof(resume_point) + 63) & ~std::size_t{63};
    auto* const point = reinterpret_cast<resume_point*>(static_cast<std::byte*>(stack_low) +
                                                        (size & ~std::size_t{63}) - k_reserved);
    point->where = {};
    point->started = false;
    ucontext_backend::make(point->first, stack_low, (size & ~std::size_t{63}) - k_reserved, entry,
                           argument);
    made.saved = point;
}

[[gnu::noinline]] void setjmp_backend::switch_to(context& from, context const& to) noexcept {
    resume_point mine;
    mine.where = this_code_point();
    mine.started = true;
    from.saved = &mine;
    if (::_setjmp(mine.registers) == 0) {
        resume(to);
    }
}

TULLE_NO_SANITIZE registers setjmp_backend::saved_registers(context const& suspended) noexcept {
    return registers_of(static_cast<resume_point const*>(suspended.saved)->where);
}

void setjmp_backend::set(context const& to) noexcept {
    resume(to);
    __builtin_unreachable();
}

} // namespace tulle::arch
