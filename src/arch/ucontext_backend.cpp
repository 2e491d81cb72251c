// SPDX-License-Identifier: Apache-2.0
#include "arch/ucontext_backend.hpp"

#include <cerrno>
#include <cstdint>
#include <new>

#include <ucontext.h>

#include "arch/ucontext_fixes.hpp"
#include "base/assert.hpp"
#include "base/sanitize.hpp"

namespace tulle::arch {
namespace {

// Lies behind the ucontext_t of a context that has not run; a struct of both is not possible
// everywhere, as it may end in a flexible array.
struct first_call {
    void (*entry)(void*);
    void* argument;
};

constexpr std::size_t k_alignment = 64;
constexpr std::size_t k_state_bytes = (sizeof(ucontext_t) + k_alignment - 1) & ~(k_alignment - 1);

// makecontext passes ints only: the address of the call travels in two halves.
void start(unsigned low, unsigned high) {
    auto const address = static_cast<std::uintptr_t>((std::uint64_t{high} << 32U) | low);
    auto const* const call = reinterpret_cast<first_call const*>(address);
    call->entry(call->argument);
    base::fatal("the entry function of a context returned; it must switch away for good");
}

} // namespace

void ucontext_backend::make(context& made, void* stack_low, std::size_t size, void (*entry)(void*),
                            void* argument) noexcept {
    auto const low = reinterpret_cast<std::uintptr_t>(stack_low);
    auto const address = (low + size - k_state_bytes - sizeof(first_call)) & ~(k_alignment - 1);
    auto* const state = new (reinterpret_cast<void*>(address)) ucontext_t{};
    auto* const call =
        new (reinterpret_cast<void*>(address + k_state_bytes)) first_call{entry, argument};
    preserve_vector_registers();
    TULLE_CHECK(::getcontext(state) == 0, "getcontext failed with errno %d", errno);
    state->uc_stack.ss_sp = stack_low;
    state->uc_stack.ss_size = address - low;
    state->uc_link = nullptr;
    auto const wide = std::uint64_t{reinterpret_cast<std::uintptr_t>(call)};
    ::makecontext(state, reinterpret_cast<void (*)()>(&start), 2, static_cast<unsigned>(wide),
                  static_cast<unsigned>(wide >> 32U));
    made.saved = state;
}

[[gnu::noinline]] void ucontext_backend::switch_to(context& from, context const& to) noexcept {
    ucontext_t mine;
    from.saved = &mine;
    auto* const next = static_cast<ucontext_t*>(to.saved);
    preserve_thread_register(*next);
    preserve_vector_registers();
    TULLE_CHECK(::swapcontext(&mine, next) == 0, "swapcontext failed with errno %d", errno);
}

TULLE_NO_SANITIZE registers ucontext_backend::saved_registers(context const& suspended) noexcept {
    return registers_of(*static_cast<ucontext_t const*>(suspended.saved));
}

void ucontext_backend::set(context const& to) noexcept {
    auto* const next = static_cast<ucontext_t*>(to.saved);
    preserve_thread_register(*next);
    ::setcontext(next);
    base::fatal("setcontext failed with errno %d", errno);
}

} // namespace tulle::arch
