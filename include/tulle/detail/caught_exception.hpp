// SPDX-License-Identifier: Apache-2.0
// For handlers that keep whatever was thrown, and for what runs while an exception unwinds.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <exception>

namespace tulle::detail {

// std::current_exception(). What unwinds the stack when a thread calls pthread_exit or is cancelled
// is no exception of C++, so there is none then; it must not be swallowed, and a worker must not
// end: that ends the program with a message.
[[nodiscard]] TULLE_API TULLE_COLD std::exception_ptr caught_exception() noexcept;

// In a handler: what() of what is handled; it lives as long as that.
[[nodiscard]] TULLE_API TULLE_COLD char const* caught_message() noexcept;

// call(argument), which does not see the exceptions that the caller handles or that unwind its
// stack; returns what it throws, or null.
[[nodiscard]] TULLE_API TULLE_COLD std::exception_ptr call_apart(void (*call)(void*),
                                                                 void* argument) noexcept;

} // namespace tulle::detail
