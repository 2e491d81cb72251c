// SPDX-License-Identifier: Apache-2.0
// Lines of coherent memory by their numbers: the address divided by the size of a line.
#pragma once

#include <cstdint>

namespace tulle::dsm {

using line_number = std::uint64_t;

// Some of at most 64 lines that follow each other: bit k stands for the line k.
using line_bits = std::uint64_t;
inline constexpr std::uint64_t k_line_bits = 64;

struct line_range {
    line_number first = 0;
    std::uint64_t count = 0;

    [[nodiscard]] line_number end() const noexcept { return first + count; }
    [[nodiscard]] bool is_empty() const noexcept { return count == 0; }
    // Together with what begins where this one ends. False: it begins elsewhere.
    [[nodiscard]] bool extend(line_range next) noexcept {
        if (is_empty() || next.first != end()) return false;
        count += next.count;
        return true;
    }
    // Together with what ends where this one begins.
    [[nodiscard]] bool extend_down(line_range before) noexcept {
        if (is_empty() || before.end() != first) return false;
        first = before.first;
        count += before.count;
        return true;
    }
};

} // namespace tulle::dsm
