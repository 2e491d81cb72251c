// SPDX-License-Identifier: Apache-2.0
//
// Decides which lines match: a fixed string, or an extended regular expression. count() may be
// called by many threads.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace examples {

class line_matcher {
public:
    virtual ~line_matcher() = default;

    // How many of these lines match; each ends with a newline, but perhaps the last.
    [[nodiscard]] virtual std::size_t count(std::string_view lines) const = 0;
};

// Lines that contain this string. It must not contain a newline.
[[nodiscard]] std::unique_ptr<line_matcher> match_fixed(std::string const& text);

// Lines that match this POSIX extended regular expression, byte by byte; throws std::runtime_error
// when it is none, or when the program was built without regular expressions.
[[nodiscard]] std::unique_ptr<line_matcher> match_expression(std::string const& expression);

} // namespace examples
