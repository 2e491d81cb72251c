// SPDX-License-Identifier: Apache-2.0
//
// Quicksort of doubles: partition, then the two parts side by side. Ranges up to `grain` are sorted
// without forking.
// The partition has no branch that depends on the data (a Lomuto scheme that always swaps and
// counts), the pivot is a median of three or of nine, and equal elements of a pivot met before are
// set aside at once. After 2 log2(n) levels a range is left to heapsort, so no input takes more
// than O(n log n).
// The policy is described in fib.hpp. NaNs have no order: there must be none.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kernels {

inline constexpr std::ptrdiff_t k_quicksort_grain = 1000;
inline constexpr std::ptrdiff_t k_insertion_length = 24;

// Moves the elements for which before(x) holds to the front; returns their end.
template <class Before> double* partition_branchless(double* first, double* last, Before before) {
    double* end = first;
    for (double* p = first; p != last; ++p) {
        double const x = *p;
        *p = *end;
        *end = x;
        end += before(x) ? 1 : 0;
    }
    return end;
}

inline void insertion_sort(double* first, double* last) {
    for (double* p = first + 1; p < last; ++p) {
        double const x = *p;
        double* hole = p;
        for (; hole != first && x < hole[-1]; --hole) *hole = hole[-1];
        *hole = x;
    }
}

inline double median(double a, double b, double c) {
    return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

inline double choose_pivot(double const* first, std::ptrdiff_t n) {
    double const* const middle = first + n / 2;
    double const* const last = first + n - 1;
    if (n < 200) return median(*first, *middle, *last);
    std::ptrdiff_t const step = n / 8;
    return median(median(*first, first[step], first[2 * step]),
                  median(middle[-step], *middle, middle[step]),
                  median(last[-2 * step], last[-step], *last));
}

// A part of the array still to sort; nothing in it is smaller than floor when has_floor.
struct quicksort_range {
    double* first;
    double* last;
    double floor;
    int levels; // that may still be split before heapsort takes over
    bool has_floor;

    [[nodiscard]] std::ptrdiff_t size() const { return last - first; }
};

// Splits a range in two; elements that equal the smallest possible one are dropped, they are in
// place.
inline std::pair<quicksort_range, quicksort_range> quicksort_split(quicksort_range const& r) {
    double const pivot = choose_pivot(r.first, r.size());
    if (r.has_floor && !(r.floor < pivot)) {
        double* const rest =
            partition_branchless(r.first, r.last, [pivot](double x) { return !(pivot < x); });
        return {{r.first, r.first, r.floor, 0, true}, {rest, r.last, pivot, r.levels - 1, true}};
    }
    double* const middle =
        partition_branchless(r.first, r.last, [pivot](double x) { return x < pivot; });
    return {{r.first, middle, r.floor, r.levels - 1, r.has_floor},
            {middle, r.last, pivot, r.levels - 1, true}};
}

inline void heapsort(quicksort_range const& r) {
    std::make_heap(r.first, r.last);
    std::sort_heap(r.first, r.last);
}

inline void quicksort_serial(quicksort_range r) {
    while (r.size() > k_insertion_length) {
        if (r.levels == 0) return heapsort(r);
        auto const [low, high] = quicksort_split(r);
        quicksort_serial(low);
        r = high;
    }
    insertion_sort(r.first, r.last);
}

template <class ForkJoin>
void quicksort_range_parallel(quicksort_range const& r, std::ptrdiff_t grain) {
    if (r.size() <= grain || r.levels == 0) return quicksort_serial(r);
    auto const parts = quicksort_split(r);
    ForkJoin::invoke([&parts, grain] { quicksort_range_parallel<ForkJoin>(parts.second, grain); },
                     [&parts, grain] { quicksort_range_parallel<ForkJoin>(parts.first, grain); });
}

inline quicksort_range quicksort_whole(double* first, double* last) {
    auto const n = static_cast<std::size_t>(last - first);
    return {first, last, 0.0, 2 * static_cast<int>(std::bit_width(n)), false};
}

template <class ForkJoin>
void quicksort(double* first, double* last, std::ptrdiff_t grain = k_quicksort_grain) {
    quicksort_range_parallel<ForkJoin>(quicksort_whole(first, last), grain);
}

inline void quicksort_serial(double* first, double* last) {
    quicksort_serial(quicksort_whole(first, last));
}

// Element i of the input for a seed: uniform in [0, 1), the same for every library (the splitmix64
// sequence).
inline double quicksort_element(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
}

inline void quicksort_fill(double* data, std::size_t n, std::uint64_t seed) {
    for (std::size_t i = 0; i < n; ++i) data[i] = quicksort_element(seed, i);
}

// A sum of the elements' bits that does not depend on their order: sorting must keep it.
inline std::uint64_t quicksort_fingerprint(double const* data, std::size_t n) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        auto const bits = std::bit_cast<std::uint64_t>(data[i]) * 0x9e3779b97f4a7c15U;
        sum += bits ^ (bits >> 29U);
    }
    return sum;
}

inline bool quicksort_check(double const* data, std::size_t n, std::uint64_t fingerprint) {
    return std::is_sorted(data, data + n) && quicksort_fingerprint(data, n) == fingerprint;
}

} // namespace kernels
