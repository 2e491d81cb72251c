// SPDX-License-Identifier: Apache-2.0
#include "sched/records/record_deque.hpp"

#include <mutex>
#include <new>

namespace tulle::sched {

namespace {

constexpr std::size_t k_header =
    (sizeof(record_deque) + alignof(record) - 1) / alignof(record) * alignof(record);

constexpr std::size_t k_alignment = std::size_t{2} << 20U; // of huge pages
constexpr std::uint8_t k_first_huge_level = 2;

record* slots_of(record_deque& deque) noexcept {
    return reinterpret_cast<record*>(reinterpret_cast<std::byte*>(&deque) + k_header);
}

} // namespace

deque_pool::~deque_pool() {
    while (slab* const s = m_slabs.pop()) static_cast<void>(m_memory.release(s, s->size));
}

record_deque* deque_pool::allocate(std::uint8_t level, bool asymmetric) noexcept {
    std::lock_guard const held(m_lock);
    record_deque* deque = m_free[level].pop();
    if (deque != nullptr) {
        deque->older = nullptr;
        deque->origin = nullptr;
        deque->origin_slot = nullptr;
        deque->is_floor = false;
        deque->reopen(asymmetric);
        return deque;
    }
    deque = carve(level);
    if (deque != nullptr)
        deque->open(slots_of(*deque), (bytes(level) - k_header) / sizeof(record), asymmetric);
    return deque;
}

void deque_pool::release(record_deque& deque) noexcept {
    std::lock_guard const held(m_lock);
    m_free[deque.level].push(deque);
}

// Keeps the first page, which thieves may read.
void deque_pool::trim() noexcept {
    std::lock_guard const held(m_lock);
    for (std::uint8_t level = 1; level < k_levels; ++level) {
        for (record_deque& d : m_free[level]) {
            static_cast<void>(m_memory.discard(reinterpret_cast<std::byte*>(&d) + os::page_size(),
                                               bytes(level) - os::page_size()));
        }
    }
}

// The caller holds the lock. Returns room for deques of `size` bytes in all, behind a header, on a
// border of huge pages where there is room for that; null: no memory. Fresh memory is zero: that is
// a record at rest.
std::byte* deque_pool::add_slab(std::size_t size) noexcept {
    std::size_t const slab_size = size + bytes(0);
    void* memory = m_memory.reserve(slab_size, k_alignment);
    if (memory == nullptr) memory = m_memory.reserve(slab_size, os::page_size());
    if (memory == nullptr) return nullptr;
    m_slabs.push(*::new (memory) slab{nullptr, slab_size});
    return static_cast<std::byte*>(memory) + bytes(0);
}

// The caller holds the lock. Level 0 is cut from slabs, a larger deque is a slab of its own.
record_deque* deque_pool::carve(std::uint8_t level) noexcept {
    return level == 0 ? carve_small() : carve_large(level);
}

record_deque* deque_pool::carve_large(std::uint8_t level) noexcept {
    std::byte* const memory = add_slab(bytes(level));
    if (memory == nullptr) return nullptr;
    // A deque that large is about to be filled: fewer page faults. Refused, nothing is lost.
    if (level >= k_first_huge_level)
        static_cast<void>(m_memory.advise_huge(memory - bytes(0), bytes(level) + bytes(0), true));
    auto* const deque = ::new (memory) record_deque;
    deque->level = level;
    return deque;
}

// Cuts a deque from a smaller slab, where memory is short.
record_deque* deque_pool::carve_small() noexcept {
    if (m_next == m_end) {
        std::size_t room = k_slab_bytes;
        m_next = add_slab(room);
        while (m_next == nullptr && room > bytes(0)) m_next = add_slab(room /= 4);
        m_end = m_next == nullptr ? nullptr : m_next + room;
    }
    if (m_next == nullptr) return nullptr;
    auto* const deque = ::new (m_next) record_deque;
    m_next += bytes(0);
    return deque;
}

namespace {

// A position in the tree of threads: the deque of a stack, and a slot in it. A null slot means
// behind all slots.
struct spawn_position {
    record_deque const* deque;
    record const* slot;

    // The oldest deque of the same stack, which stands for the stack.
    [[nodiscard]] record_deque const* stack() const noexcept {
        record_deque const* d = deque;
        while (d->older != nullptr && !d->is_floor) d = d->older;
        return d;
    }
    [[nodiscard]] spawn_position parent() const noexcept {
        return {deque->origin, deque->origin_slot};
    }
    [[nodiscard]] int depth() const noexcept {
        int steps = 0;
        for (spawn_position p = *this; p.deque != nullptr; p = p.parent()) ++steps;
        return steps;
    }
};

bool is_older(record_deque const& a, record_deque const& b) noexcept {
    record_deque const* d = b.is_floor ? nullptr : b.older;
    while (d != nullptr && d != &a) d = d->is_floor ? nullptr : d->older;
    return d == &a;
}

} // namespace

bool comes_before(record_deque const& a, record_deque const& b) noexcept {
    spawn_position p{&a, nullptr}, q{&b, nullptr};
    int deeper = p.depth() - q.depth();
    for (; deeper > 0; --deeper) p = p.parent();
    for (; deeper < 0; ++deeper) q = q.parent();
    while (p.deque != nullptr && p.stack() != q.stack()) {
        p = p.parent();
        q = q.parent();
    }
    if (p.deque == nullptr) return false;
    if (p.deque != q.deque) return is_older(*p.deque, *q.deque);
    return p.slot != nullptr && (q.slot == nullptr || p.slot < q.slot);
}

template class basic_parked_deques<os::machine, record_deque, record>;

} // namespace tulle::sched
