// SPDX-License-Identifier: Apache-2.0
// The items of a channel that nobody has received yet, in order. Bounded: a ring, made at the
// start. Unbounded: blocks, each with items in a row; memory for the next one is asked of the
// caller, who holds no lock while it gets it. No thread safety.
#pragma once

#include "base/intrusive_list.hpp"

#include <tulle/detail/channel_calls.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace tulle::sync {

class item_store {
public:
    static constexpr std::size_t k_block_bytes = 2048; // at least, and at least k_least items
    static constexpr std::size_t k_least = 8;

    // Throws std::bad_alloc, also of a size that is not to be had.
    item_store(detail::item_type const& type, std::size_t capacity)
        : m_type(type),
          m_capacity(capacity),
          m_per_block(capacity == detail::k_unbounded ? std::max(k_least, k_block_bytes / type.size)
                                                      : std::max<std::size_t>(capacity, 1)) {
        if (capacity != detail::k_unbounded && capacity != 0) give_block(make_block());
    }
    ~item_store() {
        while (m_count != 0) {
            m_type.destroy(front(), m_type.size);
            free_block(drop_front());
        }
        free_block(m_blocks.first());
        free_block(m_spare);
    }
    item_store(item_store const&) = delete;
    item_store& operator=(item_store const&) = delete;

    [[nodiscard]] detail::item_type const& type() const noexcept { return m_type; }
    [[nodiscard]] std::size_t capacity() const noexcept { return m_capacity; }
    [[nodiscard]] std::size_t count() const noexcept { return m_count; }
    [[nodiscard]] bool is_full() const noexcept { return m_count == m_capacity; }

    // Memory for an unbounded one.
    [[nodiscard]] bool needs_block() const noexcept {
        return is_unbounded() && m_spare == nullptr && (m_blocks.empty() || m_back == m_per_block);
    }
    [[nodiscard]] void* make_block() const {
        if (m_per_block > (PTRDIFF_MAX - header()) / m_type.size) throw std::bad_array_new_length();
        return ::operator new(m_per_block* m_type.size + header(), alignment());
    }
    void free_block(void* b) const noexcept {
        if (b != nullptr) ::operator delete(b, alignment());
    }
    // Keeps `b` for the next item that finds no room, and returns what was kept before.
    [[nodiscard]] void* exchange_spare(void* b) noexcept {
        return std::exchange(m_spare, static_cast<block*>(b));
    }

    // Where the caller makes the next item. Not full, and no block is needed.
    [[nodiscard]] void* add_back() noexcept {
        if (m_blocks.empty() || (is_unbounded() && m_back == m_per_block))
            append(exchange_spare(nullptr));
        void* const slot = at(m_blocks.last(), m_back);
        m_back = is_unbounded() || m_back + 1 < m_per_block ? m_back + 1 : 0;
        ++m_count;
        return slot;
    }
    // The oldest one, which the caller destroys before drop_front(). Not empty.
    [[nodiscard]] void* front() noexcept { return at(m_blocks.first(), m_front); }
    // A block that is to be freed, or null.
    [[nodiscard]] void* drop_front() noexcept {
        --m_count;
        if (++m_front < m_per_block) return nullptr;
        m_front = 0;
        if (!is_unbounded()) return nullptr;
        return std::exchange(m_spare, m_blocks.pop_front());
    }

private:
    struct block {
        block* next;
    };

    [[nodiscard]] bool is_unbounded() const noexcept { return m_capacity == detail::k_unbounded; }
    [[nodiscard]] std::size_t header() const noexcept {
        return std::max(sizeof(block), m_type.alignment);
    }
    [[nodiscard]] std::align_val_t alignment() const noexcept {
        return std::align_val_t{std::max(alignof(block), m_type.alignment)};
    }
    [[nodiscard]] void* at(block* b, std::size_t index) const noexcept {
        return reinterpret_cast<std::byte*>(b) + header() + index * m_type.size;
    }
    void give_block(void* b) noexcept { m_spare = static_cast<block*>(b); }
    void append(void* b) noexcept {
        m_blocks.push_back(*::new (b) block{nullptr});
        m_back = 0;
    }

    detail::item_type const m_type;
    std::size_t const m_capacity;
    std::size_t const m_per_block;
    base::intrusive_queue<&block::next> m_blocks;
    block* m_spare = nullptr;
    std::size_t m_front = 0; // in the first block
    std::size_t m_back = 0;  // in the last one
    std::size_t m_count = 0;
};

} // namespace tulle::sync
