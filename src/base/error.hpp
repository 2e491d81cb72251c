// SPDX-License-Identifier: Apache-2.0
// How the library tells of an error. The two ways in which it talks on its own account: one line on
// stderr, with or without the end of the process. Both format into a buffer on the stack and issue
// one write(2), so lines of several threads never mix. And an errno value as an exception.
#pragma once

namespace tulle::base {

// Prints "tulle: <message>" and aborts the process.
[[noreturn]] void fatal(char const* format, ...) noexcept __attribute__((format(printf, 1, 2)));

// The same for what no program may do: the calls that led there are told as well, if somebody can.
[[noreturn]] void fatal_misuse(char const* format, ...) noexcept
    __attribute__((format(printf, 1, 2)));
// Who can; null: nobody. One thread at a time.
void tell_calls_by(void (*tell)() noexcept) noexcept;

// Prints "tulle: warning: <message>" and returns; errno is kept.
void warn(char const* format, ...) noexcept __attribute__((format(printf, 1, 2)));

// Throws std::system_error of an errno value. `context`: which call, or what it has found.
[[noreturn]] void throw_error(int error, char const* context);
// Does what throw_error() does, unless `error` is 0.
inline void check_error(int error, char const* context) {
    if (error != 0) throw_error(error, context);
}

} // namespace tulle::base
