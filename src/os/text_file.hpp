// SPDX-License-Identifier: Apache-2.0
// Small files in which the kernel tells about itself (/proc, /sys). Read by system calls: streams
// of C++ take longer than the kernel does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tulle::os {

// All that a file holds; nothing: it cannot be read. Throws std::bad_alloc.
[[nodiscard]] std::optional<std::string> read_text(std::string const& path);

// Takes a decimal number off the front of `text`, if there is one that an int can hold.
[[nodiscard]] std::optional<int> take_number(std::string_view& text) noexcept;

// Calls f(line) for each line, without its end.
template <class F> void for_each_line(std::string_view text, F const& f) {
    while (!text.empty()) {
        auto const end = text.find('\n');
        f(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
}

} // namespace tulle::os
