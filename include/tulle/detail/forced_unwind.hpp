// SPDX-License-Identifier: Apache-2.0
// What unwinds the stack when a thread calls pthread_exit or is cancelled: no exception of the program, and it must not be swallowed. A
// Tulle thread is no thread of the C library, and its worker must not end: it is an error.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <cxxabi.h>

namespace tulle::detail {

#if defined(__GLIBCXX__)
using forced_unwind = abi::__forced_unwind;
#else
struct forced_unwind {}; // other run-time libraries have no name for it
#endif

[[noreturn]] TULLE_API TULLE_COLD void forced_unwind_cold() noexcept;

} // namespace tulle::detail
