// SPDX-License-Identifier: Apache-2.0
// Quicksort: partition by all workers while there are more workers than parts, then the parts side
// by side. The pivot, a median of three or of nine, stays in the sequence, so elements need not be
// copied. Elements equal to a pivot that was met before are set aside at once, so that few
// different values are fast. After 2 log2(n) levels a part is left to heapsort: no input takes more
// than O(n log n).
#pragma once

#include <tulle/detail/invoke.hpp>
#include <tulle/detail/partition.hpp>
#include <tulle/fork.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

namespace tulle::detail {

inline constexpr std::ptrdiff_t k_insertion_length = 24;
inline constexpr std::ptrdiff_t k_least_to_fork = 2048;
inline constexpr std::ptrdiff_t k_least_for_nine = 200;

// An element outside of the sequence, which has a hole meanwhile; it goes there in the end, also if
// a comparison throws.
template <class It> struct lifted_element {
    explicit lifted_element(It from) : hole(from), value(std::move(*from)) {}
    lifted_element(lifted_element const&) = delete;
    lifted_element& operator=(lifted_element const&) = delete;
    ~lifted_element() noexcept(std::is_nothrow_move_assignable_v<std::iter_value_t<It>>) {
        *hole = std::move(value);
    }

    It hole;
    std::iter_value_t<It> value;
};

template <class It, class Less> void insertion_sort(It first, It last, Less const& less) {
    for (It it = first; it != last; ++it) {
        lifted_element<It> lifted(it);
        for (; lifted.hole != first && less(lifted.value, lifted.hole[-1]); --lifted.hole)
            *lifted.hole = std::move(lifted.hole[-1]);
    }
}

// By swaps, so that all elements are in the sequence whenever elements are compared.
template <class It, class Less>
void sift_down(It first, std::ptrdiff_t at, std::ptrdiff_t count, Less const& less) {
    for (std::ptrdiff_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && less(first[child], first[child + 1])) ++child;
        if (!less(first[at], first[child])) return;
        std::iter_swap(first + at, first + child);
        at = child;
    }
}
template <class It, class Less> TULLE_COLD void heapsort(It first, It last, Less const& less) {
    std::ptrdiff_t const count = last - first;
    for (std::ptrdiff_t k = count / 2; k-- > 0;) sift_down(first, k, count, less);
    for (std::ptrdiff_t end = count; end-- > 1;) {
        std::iter_swap(first, first + end);
        sift_down(first, 0, end, less);
    }
}

template <class It, class Less> class quicksort {
public:
    quicksort(It first, It last, Less const& less, std::uint64_t width)
        : m_begin(first),
          m_less(less),
          m_serial_part(static_cast<std::uint64_t>(last - first) / width) {}

    void sort(It first, It last) {
        sort(first, last,
             2 * static_cast<int>(std::bit_width(static_cast<std::uint64_t>(last - first))));
    }

private:
    // The part below the pivot, and that behind it, which begins behind all that equals it where
    // the pivot was met before.
    struct split {
        It low_end;
        It high_begin;
    };

    void sort(It first, It last, int levels) {
        while (last - first > k_insertion_length) {
            if (levels-- == 0) return heapsort(first, last, m_less);
            split const at = partition(first, last);
            if (last - first >= k_least_to_fork) return sort_both(first, at, last, levels);
            if (at.low_end - first < last - at.high_begin) { // the larger part needs no frame
                sort(first, at.low_end, levels);
                first = at.high_begin;
            } else {
                sort(at.high_begin, last, levels);
                last = at.low_end;
            }
        }
        insertion_sort(first, last, m_less);
    }
    void sort_both(It first, split at, It last, int levels) {
        auto high = fork([this, from = at.high_begin, last, levels] { sort(from, last, levels); });
        sort(first, at.low_end, levels);
        high.join();
    }

    [[nodiscard]] It median(It a, It b, It c) const {
        if (m_less(*b, *a)) std::swap(a, b);
        if (!m_less(*c, *b)) return b;
        return m_less(*c, *a) ? a : c;
    }
    [[nodiscard]] It choose_pivot(It first, It last) const {
        auto const n = last - first;
        It const middle = first + n / 2;
        if (n < k_least_for_nine) return median(first, middle, last - 1);
        auto const step = n / 8;
        return median(median(first, first + step, first + 2 * step),
                      median(middle - step, middle, middle + step),
                      median(last - 1 - 2 * step, last - 1 - step, last - 1));
    }

    template <class Pred> It divide(It first, It last, Pred const& pred) const {
        bool const is_large = static_cast<std::uint64_t>(last - first) > m_serial_part;
        return is_large ? partition_elements(first, last, pred)
                        : partition_serial(first, last, pred);
    }
    // What is before `first` is a pivot, or not larger than one, that is not larger than any
    // element here.
    split partition(It first, It last) const {
        std::iter_swap(first, choose_pivot(first, last));
        if constexpr (is_small<std::iter_value_t<It>>) {
            auto const pivot = *first; // in a register
            return partition_by(first, last, pivot);
        } else {
            return partition_by(first, last, *first);
        }
    }
    template <class T> split partition_by(It first, It last, T const& pivot) const {
        if (first != m_begin && !m_less(first[-1], pivot)) {
            return {first,
                    divide(first + 1, last, [&](auto const& x) { return !m_less(pivot, x); })};
        }
        It const middle = divide(first + 1, last, [&](auto const& x) { return m_less(x, pivot); });
        std::iter_swap(first, middle - 1);
        return {middle - 1, middle};
    }

    It m_begin;
    Less const& m_less;
    std::uint64_t m_serial_part; // larger parts are partitioned by several threads
};

} // namespace tulle::detail
