// SPDX-License-Identifier: Apache-2.0
//
// Sorts line entries by the bytes of their lines. Quicksort on the entries' keys, branchless,
// without a look at the text; lines whose keys turn out equal form a group that is sorted again by
// the bytes that follow what they have in common.
// Source: the idea of caching the next bytes is Ng and Kakehi, "Cache Efficient Radix Sort for
// String Sorting", 2007.
// Nesting: the smaller part is a call, the larger one the next round, and both are forked only
// where neither has less than an eighth; so calls nest at most log n to the base 8/7 deep, however
// long the lines are.
#pragma once

#include "line_table.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace examples {

// Entries to sort, with their keys at depth. Nothing in it has a key below floor when has_floor.
struct line_range {
    line_entry* first;
    line_entry* last;
    std::size_t depth;
    std::uint64_t floor;
    int levels; // that may still be split before another sort takes over
    bool has_floor;

    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(last - first); }
};

inline line_range fresh_range(line_entry* first, line_entry* last, std::size_t depth) {
    auto const n = static_cast<std::size_t>(last - first);
    return {first, last, depth, 0, 2 * static_cast<int>(std::bit_width(n)), false};
}

template <class Before>
line_entry* partition_entries(line_entry* first, line_entry* last, Before before) {
    line_entry* end = first;
    for (line_entry* p = first; p != last; ++p) {
        line_entry const x = *p;
        *p = *end;
        *end = x;
        end += before(x) ? 1 : 0;
    }
    return end;
}

template <class Policy> class line_sorter {
public:
    explicit line_sorter(char const* text) : m_text(text) {}

    void sort(line_range r) const {
        while (r.size() > k_insertion_length) {
            if (r.levels == 0) return sort_by_comparison(r);
            auto parts = split(r);
            if (parts.first.size() > parts.second.size()) std::swap(parts.first, parts.second);
            if (r.size() > k_grain && parts.first.size() > r.size() / 8) return sort_both(parts);
            sort(parts.first);
            r = parts.second;
        }
        insertion_sort(r);
    }

private:
    static constexpr std::size_t k_insertion_length = 16;
    // Shorter ranges are sorted without forking.
    static constexpr std::size_t k_grain = 4096;
    // Entries that one thread looks through.
    static constexpr std::size_t k_block = std::size_t{1} << 14U;

    void sort_both(std::pair<line_range, line_range> const& parts) const {
        Policy::invoke([this, &parts] { sort(parts.second); },
                       [this, &parts] { sort(parts.first); });
    }

    [[nodiscard]] bool less(line_entry const& a, line_entry const& b, std::size_t depth) const {
        if (a.key() != b.key()) return a.key() < b.key();
        std::string_view const x = a.view(m_text);
        std::string_view const y = b.view(m_text);
        std::size_t const shorter = std::min(x.size(), y.size());
        int const order = std::memcmp(x.data() + depth, y.data() + depth, shorter - depth);
        return order != 0 ? order < 0 : x.size() < y.size();
    }

    void insertion_sort(line_range const& r) const {
        for (line_entry* p = r.first; p != r.last; ++p) {
            line_entry const x = *p;
            line_entry* hole = p;
            for (; hole != r.first && less(x, hole[-1], r.depth); --hole) *hole = hole[-1];
            *hole = x;
        }
    }

    void sort_by_comparison(line_range const& r) const {
        auto const before = [this, depth = r.depth](auto const& a, auto const& b) {
            return less(a, b, depth);
        };
        std::make_heap(r.first, r.last, before);
        std::sort_heap(r.first, r.last, before);
    }

    // Two ranges that are sorted independently; what is in neither is in place.
    [[nodiscard]] std::pair<line_range, line_range> split(line_range const& r) const {
        std::uint64_t const pivot = choose_pivot(r);
        int const levels = r.levels - 1;
        if (r.has_floor && pivot == r.floor) {
            line_entry* const end = partition_entries(
                r.first, r.last, [pivot](auto const& x) { return x.key() <= pivot; });
            return {next_bytes(r.first, end, r.depth), {end, r.last, r.depth, pivot, levels, true}};
        }
        line_entry* const middle =
            partition_entries(r.first, r.last, [pivot](auto const& x) { return x.key() < pivot; });
        return {{r.first, middle, r.depth, r.floor, levels, r.has_floor},
                {middle, r.last, r.depth, pivot, levels, true}};
    }

    [[nodiscard]] static std::uint64_t choose_pivot(line_range const& r) {
        std::size_t const step = r.size() / 9;
        auto const median = [&r, step](std::size_t i) {
            std::uint64_t const a = r.first[i * step].key();
            std::uint64_t const b = r.first[(i + 1) * step].key();
            std::uint64_t const c = r.first[(i + 2) * step].key();
            return std::max(std::min(a, b), std::min(std::max(a, b), c));
        };
        std::uint64_t const a = median(0);
        std::uint64_t const b = median(3);
        std::uint64_t const c = median(6);
        return std::max(std::min(a, b), std::min(std::max(a, b), c));
    }

    // A group of lines that are equal up to depth and have equal keys. Those that end within the
    // key come first, the shorter before the longer; the rest go on behind what they have in
    // common.
    [[nodiscard]] line_range next_bytes(line_entry* first, line_entry* last,
                                        std::size_t depth) const {
        std::size_t const seen = depth + k_key_bytes;
        auto const ends = [this, seen](line_entry const& x) { return x.length(m_text) <= seen; };
        line_entry* const rest = partition_entries(first, last, ends);
        auto const shorter = [this](auto const& a, auto const& b) {
            return a.length(m_text) < b.length(m_text);
        };
        if (!std::is_sorted(first, rest, shorter)) std::sort(first, rest, shorter);
        if (last - rest < 2) return fresh_range(last, last, seen);
        std::size_t const next = common_length(rest, last, seen);
        for_blocks(rest, last, [this, next](line_entry* from, line_entry* to) {
            for (; from != to; ++from) from->set_key_at(m_text, next);
        });
        return fresh_range(rest, last, next);
    }

    // Length of the prefix that all these lines share, given that they share the first `known`
    // bytes.
    [[nodiscard]] std::size_t common_length(line_entry const* first, line_entry const* last,
                                            std::size_t known) const {
        std::string_view const model = first->view(m_text);
        std::atomic<std::size_t> common{model.size()};
        for_blocks(first, last, [&, this](line_entry const* from, line_entry const* to) {
            // relaxed: a limit that only sinks; the join of the blocks orders the last value before
            // its use
            std::size_t limit = common.load(std::memory_order_relaxed);
            for (; from != to && limit > known; ++from)
                limit = shared_prefix(model, from->view(m_text), known, limit);
            std::size_t seen = common.load(std::memory_order_relaxed);
            while (limit < seen &&
                   !common.compare_exchange_weak(seen, limit, std::memory_order_relaxed))
                continue;
        });
        return common.load(std::memory_order_relaxed);
    }

    [[nodiscard]] static std::size_t shared_prefix(std::string_view a, std::string_view b,
                                                   std::size_t known, std::size_t limit) {
        std::size_t const end = std::min(limit, b.size());
        if (std::memcmp(a.data() + known, b.data() + known, end - known) == 0) return end;
        auto const differ = std::mismatch(a.begin() + static_cast<std::ptrdiff_t>(known), a.end(),
                                          b.begin() + static_cast<std::ptrdiff_t>(known), b.end());
        return static_cast<std::size_t>(differ.first - a.begin());
    }

    template <class Entry, class Body>
    static void for_blocks(Entry* first, Entry* last, Body const& body) {
        auto const n = static_cast<std::size_t>(last - first);
        parallel_for<Policy>(0, (n + k_block - 1) / k_block, [&](std::size_t i) {
            body(first + i * k_block, first + std::min(n, (i + 1) * k_block));
        });
    }

    char const* m_text;
};

} // namespace examples
