// SPDX-License-Identifier: Apache-2.0
// A worker's few free stacks of the class that it used last, so that the pool's lock is taken once
// for many.
#pragma once

#include "base/debug_access.hpp"
#include "stack/stack_pool.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace tulle::sched {

class stack_cache {
public:
    // Empty, with errno set, when there is no memory.
    [[nodiscard]] stack::span take(stack::stack_pool& pool, stack::size_class wanted) noexcept {
        if (wanted != m_class) change_class(pool, wanted);
        if (m_count == 0)
            m_count =
                pool.allocate_many(m_class, m_free.data(), pool.is_short() ? 1 : next_batch());
        return m_count == 0 ? stack::span{} : m_free[--m_count];
    }
    void give(stack::stack_pool& pool, stack::span returned) noexcept {
        if (stack::class_for(returned.size) != m_class || pool.is_short())
            return pool.release(returned);
        if (m_count == m_free.size()) {
            m_count -= k_batch;
            pool.release_many(m_free.data() + m_count, k_batch);
        }
        m_free[m_count++] = returned;
    }
    void flush(stack::stack_pool& pool) noexcept {
        if (m_count != 0) pool.release_many(m_free.data(), m_count);
        m_count = 0;
    }

private:
    friend struct base::debug_access;
    static constexpr std::size_t k_batch = 32;
    static constexpr std::size_t k_first_batch = 4; // a worker that only starts needs two

    std::size_t next_batch() noexcept { return std::exchange(m_batch, k_batch); }
    void change_class(stack::stack_pool& pool, stack::size_class wanted) noexcept {
        flush(pool);
        m_class = wanted;
    }

    stack::size_class m_class{};
    std::array<stack::span, 2 * k_batch> m_free{};
    std::size_t m_count = 0;
    std::size_t m_batch = k_first_batch;
};

} // namespace tulle::sched
