// SPDX-License-Identifier: Apache-2.0
#include "sched/record_deque.hpp"

#include <mutex>
#include <new>

namespace tulle::sched {

namespace {

constexpr std::size_t k_header = (sizeof(record_deque) + alignof(record) - 1) / alignof(record) * alignof(record);

constexpr std::size_t k_alignment = std::size_t{2} << 20U; // of huge pages
constexpr std::uint8_t k_first_huge_level = 2;

record* slots_of(record_deque& deque) noexcept { return reinterpret_cast<record*>(reinterpret_cast<std::byte*>(&deque) + k_header); }

} // namespace

deque_pool::~deque_pool() {
    while (m_slabs != nullptr) {
        slab* const s = m_slabs;
        m_slabs = s->next;
        static_cast<void>(m_memory.release(s, s->size));
    }
}

record_deque* deque_pool::allocate(std::uint8_t level, bool asymmetric) noexcept {
    std::lock_guard const held(m_lock);
    record_deque* deque = m_free[level];
    if (deque != nullptr) {
        m_free[level] = deque->next_free;
        deque->older = nullptr;
        deque->reopen(asymmetric);
        return deque;
    }
    deque = carve(level);
    if (deque != nullptr) deque->open(slots_of(*deque), (bytes(level) - k_header) / sizeof(record), asymmetric);
    return deque;
}

void deque_pool::release(record_deque& deque) noexcept {
    std::lock_guard const held(m_lock);
    deque.next_free = m_free[deque.level];
    m_free[deque.level] = &deque;
}

// Keeps the first page, which thieves may look at.
void deque_pool::trim() noexcept {
    std::lock_guard const held(m_lock);
    for (std::uint8_t level = 1; level < k_levels; ++level) {
        for (record_deque* d = m_free[level]; d != nullptr; d = d->next_free) {
            static_cast<void>(m_memory.discard(reinterpret_cast<std::byte*>(d) + os::page_size(), bytes(level) - os::page_size()));
        }
    }
}

// Under the lock. Level 0 is cut from slabs, a larger deque is a slab of its own. Fresh memory is zero: that is a record at rest.
record_deque* deque_pool::carve(std::uint8_t level) noexcept {
    std::size_t const size = bytes(level);
    if (level > 0 || m_next == m_end) {
        std::size_t const slab_size = (level > 0 ? size : k_slab_bytes) + bytes(0);
        void* const memory = m_memory.reserve(slab_size, k_alignment);
        if (memory == nullptr) return nullptr;
        // A deque that large is about to be filled: fewer page faults. Refused, nothing is lost.
        if (level >= k_first_huge_level) static_cast<void>(m_memory.advise_huge(memory, slab_size, true));
        m_slabs = ::new (memory) slab{m_slabs, slab_size};
        auto* const first = static_cast<std::byte*>(memory) + bytes(0);
        if (level > 0) {
            auto* const large = ::new (first) record_deque;
            large->level = level;
            return large;
        }
        m_next = first;
        m_end = first + k_slab_bytes;
    }
    auto* const deque = ::new (m_next) record_deque;
    m_next += size;
    return deque;
}

void parked_deques::add(record_deque& deque) noexcept {
    std::lock_guard const held(m_lock);
    if (deque.is_parked) return;
    deque.is_parked = true;
    append(deque);
    m_count.store(m_count.load(std::memory_order_relaxed) + 1,
                  std::memory_order_relaxed); // relaxed: a hint; one writer
}

// Under the lock.
void parked_deques::append(record_deque& deque) noexcept {
    deque.next_parked = nullptr;
    if (m_first == nullptr)
        m_first = &deque;
    else
        m_last->next_parked = &deque;
    m_last = &deque;
}

// Goes round: a deque that gave a record moves to the end, an empty one leaves the list.
record* parked_deques::steal() noexcept {
    if (looks_empty() || !m_lock.try_lock()) return nullptr;
    std::lock_guard const held(m_lock, std::adopt_lock);
    record* found = nullptr;
    for (int looked = 0; found == nullptr && m_first != nullptr && looked < k_most_looked_at; ++looked) {
        record_deque& deque = *m_first;
        found = record_thief(deque).steal();
        m_first = deque.next_parked;
        if (found == nullptr && !deque.looks_stealable()) {
            deque.is_parked = false;
            m_count.store(m_count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
        } else {
            append(deque);
        }
    }
    return found;
}

void parked_deques::rotate(std::uint32_t by) noexcept {
    std::lock_guard const held(m_lock);
    for (; by != 0 && m_first != nullptr; --by) {
        record_deque& moved = *m_first;
        m_first = moved.next_parked;
        append(moved);
    }
}

bool parked_deques::has_stealable() noexcept {
    if (looks_empty()) return false;
    std::lock_guard const held(m_lock);
    for (record_deque* d = m_first; d != nullptr; d = d->next_parked) {
        if (d->looks_stealable()) return true;
    }
    return false;
}

} // namespace tulle::sched
