// SPDX-License-Identifier: Apache-2.0
// Formats to a descriptor through a buffer, without the C library's streams.
#pragma once

#include <cstddef>

namespace tulle::diag {

class text_output {
public:
    explicit text_output(int descriptor) noexcept : m_descriptor(descriptor) {}
    ~text_output() { flush(); }
    text_output(text_output const&) = delete;
    text_output& operator=(text_output const&) = delete;

    // Prints up to k_longest characters at a time; more are cut.
    void print(char const* format, ...) noexcept __attribute__((format(printf, 2, 3)));
    void flush() noexcept;

private:
    static constexpr std::size_t k_longest = 2048;

    int m_descriptor;
    std::size_t m_length = 0;
    char m_buffer[2 * k_longest];
};

} // namespace tulle::diag
