// SPDX-License-Identifier: Apache-2.0
//
// The two ways in which the library talks on its own account: one line on stderr, with or without
// the end of the process. Both format into a buffer on the stack and issue one write(2), so lines
// of several threads never mix.
#pragma once

namespace tulle::base {

/// Prints "tulle: <message>" and aborts the process.
[[noreturn]] void fatal(char const* format, ...) noexcept __attribute__((format(printf, 1, 2)));

/// Prints "tulle: warning: <message>" and returns; errno is kept.
void warn(char const* format, ...) noexcept __attribute__((format(printf, 1, 2)));

} // namespace tulle::base
