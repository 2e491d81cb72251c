// SPDX-License-Identifier: Apache-2.0
#include "gmem/heap.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>

namespace tulle::gmem {

// --- holes ---------------------------------------------------------------------------------------

fitting_heap::fitting_heap(std::uint64_t bytes, bool takes_smallest)
    : m_takes_smallest(takes_smallest) {
    if (bytes != 0) m_holes.emplace(0, bytes);
}

fitting_heap::holes::iterator fitting_heap::choose(std::uint64_t bytes, extent range) noexcept {
    auto best = m_holes.end();
    std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
    auto at = m_holes.upper_bound(range.begin);
    if (at != m_holes.begin()) --at;
    for (; at != m_holes.end() && at->first < range.end && smallest != bytes; ++at) {
        extent const usable{std::max(at->first, range.begin), std::min(at->second, range.end)};
        if (usable.begin >= usable.end || usable.size() < bytes || usable.size() >= smallest)
            continue;
        best = at;
        if (!m_takes_smallest) break;
        smallest = usable.size();
    }
    return best;
}

// What is left of the hole behind `taken` is added first, as that may fail.
void fitting_heap::take(holes::iterator from, extent taken) {
    if (taken.end != from->second) m_holes.emplace(taken.end, from->second);
    if (taken.begin == from->first)
        m_holes.erase(from);
    else
        from->second = taken.begin;
}

std::optional<std::uint64_t> fitting_heap::allocate(std::uint64_t bytes, extent range) {
    auto const chosen = choose(bytes, range);
    if (chosen == m_holes.end()) return std::nullopt;
    std::uint64_t const begin = std::max(chosen->first, range.begin);
    take(chosen, {begin, begin + bytes});
    return begin;
}

void fitting_heap::release(std::uint64_t offset, std::uint64_t bytes) {
    auto const next = m_holes.lower_bound(offset);
    bool const joins_next = next != m_holes.end() && next->first == offset + bytes;
    std::uint64_t const end = joins_next ? next->second : offset + bytes;
    if (next != m_holes.begin() && std::prev(next)->second == offset)
        std::prev(next)->second = end;
    else
        m_holes.emplace_hint(next, offset, end);
    if (joins_next) m_holes.erase(next);
}

std::uint64_t fitting_heap::free_bytes() const noexcept {
    return std::accumulate(
        m_holes.begin(), m_holes.end(), std::uint64_t{0},
        [](std::uint64_t sum, auto const& hole) { return sum + (hole.second - hole.first); });
}

// --- buddies -------------------------------------------------------------------------------------

// A segment is cut into the largest blocks that are aligned in it.
buddy_heap::buddy_heap(std::uint64_t segments, std::uint64_t bytes_of_each)
    : m_each(bytes_of_each) {
    for (std::uint64_t s = 0; s < segments; ++s) {
        std::uint64_t begin = 0;
        for (std::uint64_t left = bytes_of_each / k_grain; left != 0;) {
            auto const order = static_cast<unsigned>(std::bit_width(left)) - 1;
            of_order(order).insert(s * m_each + begin);
            begin += k_grain << order;
            left -= std::uint64_t{1} << order;
        }
    }
}

unsigned buddy_heap::order_of(std::uint64_t bytes) noexcept {
    return static_cast<unsigned>(std::bit_width((bytes + k_grain - 1) / k_grain - 1));
}

buddy_heap::blocks& buddy_heap::of_order(unsigned order) {
    if (order >= m_free.size()) m_free.resize(order + 1);
    return m_free[order];
}

// Halves of a larger block are added before it is taken away, as that may fail.
std::optional<std::uint64_t> buddy_heap::allocate(std::uint64_t bytes, extent range) {
    unsigned const wanted = order_of(bytes);
    for (unsigned order = wanted; order < m_free.size(); ++order) {
        auto const found = m_free[order].lower_bound(range.begin);
        if (found == m_free[order].end() || *found + (k_grain << order) > range.end) continue;
        std::uint64_t const begin = *found;
        blocks halves;
        for (unsigned o = wanted; o < order; ++o) halves.insert(begin + (k_grain << o));
        m_free[order].erase(found);
        for (unsigned o = wanted; o < order; ++o)
            m_free[o].insert(halves.extract(begin + (k_grain << o)));
        return begin;
    }
    return std::nullopt;
}

// The buddy of a block is free: joins them. `offset` is the beginning of both then.
bool buddy_heap::merge(std::uint64_t& offset, unsigned order) {
    std::uint64_t const size = k_grain << order;
    std::uint64_t const segment = offset / m_each * m_each;
    std::uint64_t const buddy = segment + ((offset - segment) ^ size);
    if (buddy - segment >= m_each || order + 1 >= m_free.size() || m_free[order].erase(buddy) == 0)
        return false;
    offset = std::min(offset, buddy);
    return true;
}

void buddy_heap::release(std::uint64_t offset, std::uint64_t bytes) {
    blocks made{offset}; // may fail; nothing does afterwards
    unsigned order = order_of(bytes);
    while (merge(offset, order)) ++order;
    auto node = made.extract(made.begin());
    node.value() = offset;
    m_free[order].insert(std::move(node));
}

std::uint64_t buddy_heap::free_bytes() const noexcept {
    std::uint64_t sum = 0;
    for (unsigned order = 0; order < m_free.size(); ++order)
        sum += m_free[order].size() * (k_grain << order);
    return sum;
}

// --- in turn -------------------------------------------------------------------------------------

rotating_heap::rotating_heap(std::uint64_t segments, std::uint64_t bytes_of_each)
    : m_segments(segments), m_each(bytes_of_each), m_holes(segments * bytes_of_each, false) {}

std::optional<std::uint64_t> rotating_heap::allocate(std::uint64_t bytes, extent range) {
    // The caller has chosen.
    if (range.size() < m_segments * m_each) return m_holes.allocate(bytes, range);
    for (std::uint64_t tried = 0; tried < m_segments; ++tried) {
        std::uint64_t const segment = (m_next + tried) % m_segments;
        auto const found = m_holes.allocate(bytes, {segment * m_each, (segment + 1) * m_each});
        if (!found) continue;
        m_next = segment + 1;
        return found;
    }
    return m_holes.allocate(bytes, range);
}

// --- any -----------------------------------------------------------------------------------------

heap::kind heap::make(algorithm chosen, std::uint64_t segments, std::uint64_t bytes_of_each) {
    switch (chosen) {
        case algorithm::buddy: return buddy_heap(segments, bytes_of_each);
        case algorithm::round_robin: return rotating_heap(segments, bytes_of_each);
        default: return fitting_heap(segments * bytes_of_each, chosen == algorithm::best_fit);
    }
}

heap::heap(algorithm chosen, std::uint64_t segments, std::uint64_t bytes_of_each)
    : m_kind(make(chosen, segments, bytes_of_each)) {}

} // namespace tulle::gmem
