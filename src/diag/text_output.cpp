// SPDX-License-Identifier: Apache-2.0
#include "diag/text_output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include <unistd.h>

namespace tulle::diag {

void text_output::print(char const* format, ...) noexcept {
    if (m_length > sizeof m_buffer - k_longest) flush();
    std::va_list arguments;
    va_start(arguments, format);
    int const length = std::vsnprintf(m_buffer + m_length, k_longest, format, arguments);
    va_end(arguments);
    m_length += std::min(static_cast<std::size_t>(std::max(length, 0)), k_longest - 1);
}

void text_output::flush() noexcept {
    for (std::size_t done = 0; done < m_length;) {
        auto const written = ::write(m_descriptor, m_buffer + done, m_length - done);
        if (written < 0 && errno != EINTR) break;
        if (written > 0) done += static_cast<std::size_t>(written);
    }
    m_length = 0;
}

} // namespace tulle::diag
