// SPDX-License-Identifier: Apache-2.0
#include "arch/ucontext_backend.hpp"

#include <cerrno>
#include <cstdint>
#include <new>

#include <ucontext.h>

#include "base/assert.hpp"
#include "base/sanitize.hpp"

namespace tulle::arch {
namespace {

struct first_frame {
    ucontext_t state;
    void (*entry)(void*);
    void* argument;
};

/// makecontext passes ints only: the address of the frame travels in two halves.
void start(unsigned low, unsigned high) {
    auto const address = static_cast<std::uintptr_t>((std::uint64_t{high} << 32U) | low);
    auto const* const frame = reinterpret_cast<first_frame const*>(address);
    frame->entry(frame->argument);
    base::fatal("the entry function of a context returned; it must switch away for good");
}

} // namespace

void ucontext_backend::make(context& made, void* stack_low, std::size_t size, void (*entry)(void*), void* argument) noexcept {
    auto const low = reinterpret_cast<std::uintptr_t>(stack_low);
    auto const address = (low + size - sizeof(first_frame)) & ~(std::uintptr_t{64} - 1);
    auto* const frame = new (reinterpret_cast<void*>(address)) first_frame{};
    TULLE_CHECK(::getcontext(&frame->state) == 0, "getcontext failed with errno %d", errno);
    frame->state.uc_stack.ss_sp = stack_low;
    frame->state.uc_stack.ss_size = address - low;
    frame->state.uc_link = nullptr;
    frame->entry = entry;
    frame->argument = argument;
    auto const wide = std::uint64_t{address};
    ::makecontext(&frame->state, reinterpret_cast<void (*)()>(&start), 2, static_cast<unsigned>(wide), static_cast<unsigned>(wide >> 32U));
    made.saved = frame;
    static_assert(offsetof(first_frame, state) == 0);
}

[[gnu::noinline]] void ucontext_backend::switch_to(context& from, context const& to) noexcept {
    ucontext_t mine;
    from.saved = &mine;
    TULLE_CHECK(::swapcontext(&mine, static_cast<ucontext_t const*>(to.saved)) == 0, "swapcontext failed with errno %d", errno);
}

TULLE_NO_SANITIZE registers ucontext_backend::saved_registers(context const& suspended) noexcept {
    return registers_of(*static_cast<ucontext_t const*>(suspended.saved));
}

void ucontext_backend::set(context const& to) noexcept {
    ::setcontext(static_cast<ucontext_t const*>(to.saved));
    base::fatal("setcontext failed with errno %d", errno);
}

} // namespace tulle::arch
