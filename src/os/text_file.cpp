// SPDX-License-Identifier: Apache-2.0
#include "os/text_file.hpp"

#include <charconv>
#include <cstddef>
#include <cstdio>
#include <memory>

namespace tulle::os {

std::optional<std::string> read_text(std::string const& path) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen(path.c_str(), "re"),
                                                               &std::fclose);
    if (!file) return std::nullopt;
    std::setvbuf(file.get(), nullptr, _IONBF, 0); // what is asked for is read at once
    constexpr std::size_t k_piece = 4096;
    std::string text;
    std::size_t got = 0;
    do {
        std::size_t const before = text.size();
        text.resize(before + k_piece);
        got = std::fread(text.data() + before, 1, k_piece, file.get());
        text.resize(before + got);
    } while (got == k_piece);
    return text;
}

std::optional<int> take_number(std::string_view& text) noexcept {
    int number = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

} // namespace tulle::os
