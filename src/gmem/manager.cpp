// SPDX-License-Identifier: Apache-2.0
#include "gmem/manager.hpp"

#include <mutex>
#include <new>

namespace tulle::gmem {

manager::manager(algorithm chosen, std::uint64_t low, rank first, rank places,
                 std::uint64_t bytes_of_each)
    : m_low(low),
      m_first(first),
      m_places(places),
      m_each(bytes_of_each),
      m_heap(chosen, places, bytes_of_each) {}

extent manager::extent_of(rank place) const noexcept {
    if (place == k_anywhere) return {0, m_places * m_each};
    return {(place - m_first) * m_each, (place - m_first + 1) * m_each};
}

manager::answer manager::allocate(std::uint64_t bytes, rank owner, rank place) noexcept try {
    if (bytes == 0 || bytes > m_places * m_each) return {memory_status::no_room};
    std::uint64_t const whole = round_up(bytes, k_grain);
    std::lock_guard const held(m_lock);
    auto const offset = m_heap.allocate(whole, extent_of(place));
    if (!offset) return {memory_status::no_room};
    try {
        m_entries.emplace(m_low + *offset, entry{bytes, owner});
    } catch (std::bad_alloc const&) {
        m_heap.release(*offset, whole);
        throw;
    }
    return {memory_status::done, m_low + *offset};
} catch (std::bad_alloc const&) {
    return {memory_status::no_memory};
}

manager::answer manager::release(std::uint64_t address) noexcept try {
    std::lock_guard const held(m_lock);
    auto const found = m_entries.find(address);
    if (found == m_entries.end()) return {memory_status::unknown};
    std::uint64_t const bytes = found->second.bytes;
    m_heap.release(address - m_low, round_up(bytes, k_grain));
    m_entries.erase(found);
    return {memory_status::done, bytes};
} catch (std::bad_alloc const&) {
    return {memory_status::no_memory};
}

manager::answer manager::size_of(std::uint64_t address) noexcept {
    std::lock_guard const held(m_lock);
    auto const found = m_entries.find(address);
    if (found == m_entries.end()) return {memory_status::unknown};
    return {memory_status::done, found->second.bytes};
}

std::vector<allocation> manager::list() {
    std::lock_guard const held(m_lock);
    std::vector<allocation> all;
    for (auto const& [address, about] : m_entries)
        all.push_back({address, about.bytes, about.owner});
    return all;
}

std::uint64_t manager::free_bytes() noexcept {
    std::lock_guard const held(m_lock);
    return m_heap.free_bytes();
}

} // namespace tulle::gmem
