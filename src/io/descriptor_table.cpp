// SPDX-License-Identifier: Apache-2.0
#include "io/descriptor_table.hpp"

#include <memory>
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

// Without a lock, as whoever gives the memory may suspend the caller: the locks of a program's own
// allocator are the run time's (compat/pthread).
descriptor_table::block* descriptor_table::make_block(std::size_t index) noexcept {
    std::unique_ptr<block> made(new (std::nothrow) block);
    if (made == nullptr) return nullptr;
    for (std::size_t k = 0; k < k_per_block; ++k)
        (*made)[k].number = static_cast<int>(index * k_per_block + k);
    block* there = nullptr; // acq_rel: pairs with find; acquire: another one was faster
    if (!m_blocks[index].compare_exchange_strong(there, made.get(), std::memory_order_acq_rel,
                                                 std::memory_order_acquire))
        return there;
    return made.release();
}

void descriptor_table::forget_all() noexcept {
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
