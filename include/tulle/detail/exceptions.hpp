// SPDX-License-Identifier: Apache-2.0
// try, catch and throw of the headers, which programs may include that are compiled with
// -fno-exceptions. These end with the message of what would be thrown; what the library itself
// throws finds no handler there, and ends the program, too.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <exception>

namespace tulle::detail {

[[noreturn]] TULLE_API TULLE_COLD void end_without_exceptions(char const* message) noexcept;

} // namespace tulle::detail

#if defined(__cpp_exceptions)

#define TULLE_TRY try
#define TULLE_CATCH(...)                                                                           \
    catch (__VA_ARGS__) // without a name: use detail::caught_exception(), detail::caught_message()
#define TULLE_THROW(...) throw __VA_ARGS__
#define TULLE_RETHROW throw

#else

namespace tulle::detail {

[[noreturn]] inline void end_instead_of(std::exception const& thrown) noexcept {
    end_without_exceptions(thrown.what());
}

} // namespace tulle::detail

#define TULLE_TRY if constexpr (true)
#define TULLE_CATCH(...) if constexpr (false)
#define TULLE_THROW(...) ::tulle::detail::end_instead_of(__VA_ARGS__)
#define TULLE_RETHROW ::tulle::detail::end_without_exceptions("an exception")

#endif
