// SPDX-License-Identifier: Apache-2.0
#include "io/descriptor_table.hpp"

#include <memory>
#include <mutex>
#include <new>

namespace tulle::io {

descriptor* descriptor_table::find(int number) const noexcept {
    if (number < 0 || number >= k_most) return nullptr;
    auto const n = static_cast<std::size_t>(number);
    // acquire pairs with make_block.
    block* const found = m_blocks[n / k_per_block].load(std::memory_order_acquire);
    return found != nullptr ? &(*found)[n % k_per_block] : nullptr;
}

descriptor* descriptor_table::find_or_make(int number) noexcept {
    if (number < 0 || number >= k_most) return nullptr;
    if (descriptor* const found = find(number)) return found;
    auto const n = static_cast<std::size_t>(number);
    block* const made = make_block(n / k_per_block);
    return made != nullptr ? &(*made)[n % k_per_block] : nullptr;
}

descriptor_table::block* descriptor_table::make_block(std::size_t index) noexcept {
    std::lock_guard const held(m_lock);
    // relaxed: written under the lock.
    if (block* const there = m_blocks[index].load(std::memory_order_relaxed)) return there;
    auto* const made = new (std::nothrow) block;
    if (made == nullptr) return nullptr;
    for (std::size_t k = 0; k < k_per_block; ++k)
        (*made)[k].number = static_cast<int>(index * k_per_block + k);
    m_blocks[index].store(made, std::memory_order_release); // pairs with find
    return made;
}

void descriptor_table::forget_all() noexcept {
    ::new (static_cast<void*>(&m_lock)) base::spin_lock;
    for (auto& slot : m_blocks) {
        block* const there = slot.load(std::memory_order_relaxed); // relaxed: nobody else uses it
        if (there == nullptr) continue;
        for (descriptor& d : *there) {
            int const number = d.number;
            ::new (static_cast<void*>(&d)) descriptor;
            d.number = number;
        }
    }
}

} // namespace tulle::io
