// SPDX-License-Identifier: Apache-2.0
//
// A context belongs to no OS thread, but some C libraries load the register that points to the OS thread's own data from it, so that a context
// which is resumed on another OS thread finds the first one's. preserve_thread_register(next) is called before `next` is loaded by setcontext or
// swapcontext, on the OS thread that loads it. Where setcontext leaves the register alone there is nothing to do.
#pragma once

#include <ucontext.h>

#include "arch/architecture.hpp"

#if __has_include(TULLE_ARCH_FILE(thread_register.hpp))
#include TULLE_ARCH_FILE(thread_register.hpp)
#else
namespace tulle::arch {
inline void preserve_thread_register(ucontext_t&) noexcept {}
} // namespace tulle::arch
#endif
