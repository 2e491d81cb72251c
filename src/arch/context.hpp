// SPDX-License-Identifier: Apache-2.0
// The one file that chooses how contexts are switched. Each backend is a type with the members
//     struct context;
//     static void make(context&, void* stack_low, std::size_t size, void (*entry)(void*),
//                      void* argument) noexcept;
//     static void switch_to(context& from, context const& to) noexcept;
//     [[noreturn]] static void set(context const& to) noexcept;
//     static constexpr bool k_keeps_rounding_mode; // of floating point, with the context
//     static constexpr std::size_t k_saved_bytes;  // what lies where a suspended context points
//     static registers saved_registers(context const&) noexcept; // of a suspended context, to
//                                                                // unwind it from
// What the concept below cannot say: `entry` never returns; an exception that leaves it ends the
// process; a context may be resumed on another OS thread than the one that it was suspended on,
// once its registers are saved, which is when the next context runs; the FP control words belong to
// the context (if k_keeps_rounding_mode), and so do the SSE status flags where they share a
// register; x87 status, signal mask, errno, thread-local storage and exception state belong to the
// OS thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <utility>

#include "arch/architecture.hpp"
#include "arch/registers.hpp"
#include "arch/setjmp_backend.hpp"
#include "arch/ucontext_backend.hpp"

#if __has_include(TULLE_ARCH_FILE(asm_backend.hpp))
#include "arch/asm_backend.hpp"
#elif !defined(TULLE_CONTEXT_BACKEND_UCONTEXT) && !defined(TULLE_CONTEXT_BACKEND_SETJMP)
#error "no assembly switch: define TULLE_CONTEXT_BACKEND_UCONTEXT or TULLE_CONTEXT_BACKEND_SETJMP"
#else
namespace tulle::arch {
using assembly_backends = std::tuple<>;
}
#endif

namespace tulle::arch {

// Every backend of this architecture, to compare them; those in assembly come first.
using all_backends = decltype(std::tuple_cat(std::declval<assembly_backends>(),
                                             std::tuple<ucontext_backend, setjmp_backend>()));

#if defined(TULLE_CONTEXT_BACKEND_UCONTEXT)
using backend = ucontext_backend;
#elif defined(TULLE_CONTEXT_BACKEND_SETJMP)
using backend = setjmp_backend;
#else
using backend = asm_backend;
#endif

using context = backend::context;

template <class B>
concept context_backend = requires(typename B::context& from, typename B::context const& to,
                                   void* low, std::size_t size, void (*entry)(void*)) {
    { B::make(from, low, size, entry, low) }
    noexcept->std::same_as<void>;
    { B::switch_to(from, to) }
    noexcept->std::same_as<void>;
    { B::set(to) }
    noexcept->std::same_as<void>;
    { B::saved_registers(to) }
    noexcept->std::same_as<registers>;
};

static_assert(context_backend<backend>);

} // namespace tulle::arch
