// SPDX-License-Identifier: Apache-2.0
// What the C library's swapcontext and setcontext do wrong on an architecture, to be called before
// either of them, on the OS thread that calls:
//     preserve_thread_register(next)    a context belongs to no OS thread, but some libraries load
//                                       the register that points to the OS thread's own data from
//                                       it, so that a context that is resumed on another OS thread
//                                       would find the data of the first one
//     preserve_vector_registers()       some libraries save vector registers only when they are
//                                       told that these are in use
// Where there is nothing wrong there is nothing to do.
#pragma once

#include <ucontext.h>

#include "arch/architecture.hpp"

#if __has_include(TULLE_ARCH_FILE(ucontext_fixes.hpp))
#include TULLE_ARCH_FILE(ucontext_fixes.hpp)
#else
namespace tulle::arch {
inline void preserve_thread_register(ucontext_t&) noexcept {}
inline void preserve_vector_registers() noexcept {}
} // namespace tulle::arch
#endif
