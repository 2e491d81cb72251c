// SPDX-License-Identifier: Apache-2.0
#include "compat/parmacs/failure.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace tulle::parmacs {

void fail(char const* format, ...) noexcept {
    std::array<char, 512> text{};
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text.data(), text.size(), format, arguments);
    va_end(arguments);
    std::fflush(stdout);
    std::fprintf(stderr, "tulle: parmacs: %s\n", text.data());
    std::abort();
}

} // namespace tulle::parmacs
