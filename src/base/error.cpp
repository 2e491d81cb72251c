// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include <unistd.h>

namespace tulle::base {
namespace {

std::atomic<void (*)() noexcept> g_tell_calls{nullptr};

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

void fatal_misuse(char const* format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    print_line("tulle: ", format, arguments);
    va_end(arguments);
    // Pairs with tell_calls_by.
    if (auto const tell = g_tell_calls.load(std::memory_order_acquire)) tell();
    std::abort();
}
void tell_calls_by(void (*tell)() noexcept) noexcept {
    g_tell_calls.store(tell, std::memory_order_release); // pairs with fatal_misuse
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
