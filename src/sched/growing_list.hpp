// SPDX-License-Identifier: Apache-2.0
// A list that only grows, up to a capacity that is fixed when it is empty. One thread at a time
// appends; any thread reads meanwhile, and finds what was appended before it read.
#pragma once

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/debug_access.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace tulle::sched {

template <class T, class Machine = base::machine> class growing_list {
public:
    growing_list() = default;
    // --- while nobody else reads -----------------------------------------------------------------
    // All that `other` has; it is empty then. relaxed: as said.
    void take(growing_list& other) noexcept {
        m_items = std::move(other.m_items);
        m_capacity = std::exchange(other.m_capacity, 0);
        m_count.store(other.m_count.exchange(0, std::memory_order_relaxed),
                      std::memory_order_relaxed);
    }
    // Throws std::bad_alloc.
    void reserve(std::size_t capacity) {
        m_items = std::make_unique<T[]>(capacity);
        m_capacity = capacity;
    }
    void clear() noexcept {
        m_count.store(0, std::memory_order_relaxed); // relaxed: nobody reads
        m_items.reset();
        m_capacity = 0;
    }

    // --- one thread at a time --------------------------------------------------------------------
    void push_back(T item) noexcept {
        // relaxed: written by appenders only.
        std::size_t const count = m_count.load(std::memory_order_relaxed);
        TULLE_ASSERT(count < m_capacity, "a list for %zu items is full", m_capacity);
        m_items[count] = std::move(item);
        m_count.store(count + 1, std::memory_order_release); // pairs with size
    }

    // --- anyone ----------------------------------------------------------------------------------
    // pairs with push_back.
    [[nodiscard]] std::size_t size() const noexcept {
        return m_count.load(std::memory_order_acquire);
    }
    [[nodiscard]] T& operator[](std::size_t index) const noexcept { return m_items[index]; }
    [[nodiscard]] T* begin() const noexcept { return m_items.get(); }
    [[nodiscard]] T* end() const noexcept { return m_items.get() + size(); }

private:
    friend struct base::debug_access;
    std::unique_ptr<T[]> m_items;
    std::size_t m_capacity = 0;
    typename Machine::template atomic<std::size_t> m_count{0};
};

} // namespace tulle::sched
