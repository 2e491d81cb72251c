// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include <unistd.h>

namespace tulle::base {
namespace {

void print_line(char const* prefix, char const* format, std::va_list arguments) noexcept {
    constexpr std::size_t k_longest = 1024;
    char line[k_longest];
    int const head = std::snprintf(line, k_longest, "%s", prefix);
    auto length = static_cast<std::size_t>(std::max(head, 0));
    int const body = std::vsnprintf(line + length, k_longest - length, format, arguments);
    length += static_cast<std::size_t>(std::max(body, 0));
    length = std::min(length, k_longest - 2);
    line[length++] = '\n';
    [[maybe_unused]] auto const written = ::write(STDERR_FILENO, line, length);
}

} // namespace

void fatal(char const* format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    print_line("tulle: ", format, arguments);
    va_end(arguments);
    std::abort();
}

void warn(char const* format, ...) noexcept {
    int const kept = errno;
    std::va_list arguments;
    va_start(arguments, format);
    print_line("tulle: warning: ", format, arguments);
    va_end(arguments);
    errno = kept;
}

void throw_error(int error, char const* context) {
    throw std::system_error(error, std::generic_category(), context);
}

} // namespace tulle::base
