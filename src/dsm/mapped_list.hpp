// SPDX-License-Identifier: Apache-2.0
// A list that never grows by moving, and takes nothing from the heap: it may grow in the middle of
// a program's malloc. Address space for all that it may hold is set aside; pages take memory when
// they are used.
#pragma once

#include "base/assert.hpp"
#include "os/fixed_range.hpp"

#include <cstddef>
#include <new>
#include <type_traits>

namespace tulle::dsm {

template <class T> class mapped_list {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
    explicit mapped_list(std::size_t most) // std::bad_alloc
        : m_range(os::fixed_range::reserve(0, most * sizeof(T))), m_most(most) {
        if (!m_range.is_valid() || !m_range.fill(0, m_range.size())) throw std::bad_alloc();
    }

    [[nodiscard]] std::size_t size() const noexcept { return m_size; }
    [[nodiscard]] T& operator[](std::size_t k) noexcept { return begin()[k]; }
    void push_back(T value) noexcept {
        TULLE_ASSERT(m_size < m_most, "a list of %zu entries is full", m_most);
        begin()[m_size++] = value;
    }
    void clear() noexcept { m_size = 0; }
    // No more than there are.
    void resize(std::size_t count) noexcept {
        TULLE_ASSERT(count <= m_size, "a list of %zu entries is to keep %zu", m_size, count);
        m_size = count;
    }

private:
    [[nodiscard]] T* begin() noexcept { return reinterpret_cast<T*>(m_range.low()); }

    os::fixed_range m_range;
    std::size_t m_most;
    std::size_t m_size = 0;
};

} // namespace tulle::dsm
