// SPDX-License-Identifier: Apache-2.0
// A value that most objects do not have: while there is none it takes the room of a pointer, else
// it lies on the heap. Copies and comparisons are those of the value.
#pragma once

#include <compare>
#include <memory>

namespace tulle::base {

template <class T> class rare {
public:
    rare() noexcept = default;
    rare(rare const& other) : m_value(other ? std::make_unique<T>(*other) : nullptr) {}
    rare(rare&&) noexcept = default;
    rare& operator=(rare const& other) {
        if (this != &other) *this = rare(other);
        return *this;
    }
    rare& operator=(rare&&) noexcept = default;
    ~rare() = default;

    explicit operator bool() const noexcept { return m_value != nullptr; }
    [[nodiscard]] T& operator*() const noexcept { return *m_value; }
    [[nodiscard]] T* operator->() const noexcept { return m_value.get(); }
    // Makes it if there is none. std::bad_alloc; what its constructor throws.
    T& get() {
        if (!m_value) m_value = std::make_unique<T>();
        return *m_value;
    }
    void reset() noexcept { m_value.reset(); }

    friend bool operator==(rare const& a, rare const& b) { return (a <=> b) == 0; }
    // None comes first.
    friend auto operator<=>(rare const& a, rare const& b) -> decltype(*a <=> *b) {
        if (!a || !b) return bool(a) <=> bool(b);
        return *a <=> *b;
    }

private:
    std::unique_ptr<T> m_value;
};

} // namespace tulle::base
