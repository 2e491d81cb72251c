// SPDX-License-Identifier: Apache-2.0
//
// std::source_location, or its like for compilers that the C++ library does not give one to (clang
// 14).
#pragma once

#include <version>

#if defined(__cpp_lib_source_location)
#include <source_location>
#else
#include <cstdint>
#endif

namespace tulle::model {

#if defined(__cpp_lib_source_location)
using source_location = std::source_location;
#else
class source_location {
public:
    static constexpr source_location
    current(char const* file = __builtin_FILE(), std::uint_least32_t line = __builtin_LINE(),
            std::uint_least32_t column = __builtin_COLUMN()) noexcept {
        source_location here;
        here.m_file = file;
        here.m_line = line;
        here.m_column = column;
        return here;
    }
    [[nodiscard]] constexpr char const* file_name() const noexcept { return m_file; }
    [[nodiscard]] constexpr std::uint_least32_t line() const noexcept { return m_line; }
    [[nodiscard]] constexpr std::uint_least32_t column() const noexcept { return m_column; }

private:
    char const* m_file = "";
    std::uint_least32_t m_line = 0;
    std::uint_least32_t m_column = 0;
};
#endif

} // namespace tulle::model
