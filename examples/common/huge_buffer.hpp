// SPDX-License-Identifier: Apache-2.0
//
// Memory for much data that is read in no order: zero pages from the system, huge ones where it has
// them, touched on use.
#pragma once

#include <cstddef>
#include <span>

namespace examples {

class huge_buffer {
public:
    huge_buffer() = default;
    explicit huge_buffer(std::size_t bytes); // throws std::system_error
    ~huge_buffer();
    huge_buffer(huge_buffer&& other) noexcept;
    huge_buffer& operator=(huge_buffer&& other) noexcept;

    [[nodiscard]] char* data() const { return m_data; }
    [[nodiscard]] std::size_t size() const { return m_size; }

    // As an array of trivial objects; zero bytes are their first value.
    template <class T> [[nodiscard]] std::span<T> as() const {
        return {reinterpret_cast<T*>(m_data), m_size / sizeof(T)};
    }

    // Makes it longer; what is in it stays, perhaps elsewhere.
    void grow(std::size_t bytes);

private:
    char* m_data = nullptr;
    std::size_t m_size = 0;
};

} // namespace examples
