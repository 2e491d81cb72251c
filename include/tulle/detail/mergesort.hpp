// SPDX-License-Identifier: Apache-2.0
// Mergesort: halves side by side, and each merge cut in two where both sequences divide at one
// value (Cormen and others, "Introduction to Algorithms", multithreaded merging). Elements go to
// and fro between the sequence and a buffer of the same size.
#pragma once

#include <tulle/detail/quicksort.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace tulle::detail {

inline constexpr std::ptrdiff_t k_serial_merge = 4096;

// As many elements again, to be assigned to.
template <class T, bool IsSmall = is_small<T>> class merge_buffer {
public:
    // Made of what is there, which gets its elements back.
    template <class It>
    merge_buffer(It first, std::size_t count)
        : m_elements(std::move_iterator(first),
                     std::move_iterator(first + static_cast<std::iter_difference_t<It>>(count))) {
        std::move(m_elements.begin(), m_elements.end(), first);
    }
    [[nodiscard]] T* data() noexcept { return m_elements.data(); }

private:
    std::vector<T> m_elements;
};
// Of elements that need no constructor; they are written before they are read.
template <class T> class merge_buffer<T, true> {
public:
    template <class It>
    merge_buffer(It, std::size_t count)
        : m_count(count), m_data(std::allocator<T>().allocate(count)) {}
    merge_buffer(merge_buffer const&) = delete;
    merge_buffer& operator=(merge_buffer const&) = delete;
    ~merge_buffer() { std::allocator<T>().deallocate(m_data, m_count); }
    [[nodiscard]] T* data() noexcept { return m_data; }

private:
    std::size_t m_count;
    T* m_data;
};

// Of two sorted sequences; of equal elements those of `a` come first.
template <class A, class Out, class Less>
void merge_serial(A a, A a_end, A b, A b_end, Out out, Less const& less) {
    if constexpr (is_small<std::iter_value_t<A>>) {
        while (a != a_end && b != b_end) { // without a branch that depends on them
            bool const from_b = less(*b, *a);
            *out++ = from_b ? *b : *a;
            b += from_b ? 1 : 0;
            a += from_b ? 0 : 1;
        }
    } else {
        while (a != a_end && b != b_end) *out++ = less(*b, *a) ? std::move(*b++) : std::move(*a++);
    }
    std::move(b, b_end, std::move(a, a_end, out));
}

template <class A, class Out, class Less>
void merge_parallel(A a, A a_end, A b, A b_end, Out out, Less const& less) {
    if (a_end - a + (b_end - b) <= k_serial_merge)
        return merge_serial(a, a_end, b, b_end, out, less);
    A a_cut = a + (a_end - a) / 2;
    A b_cut = b + (b_end - b) / 2;
    if (a_end - a >= b_end - b)
        b_cut = std::lower_bound(b, b_end, *a_cut, less); // equal ones of b come behind a_cut
    else
        a_cut = std::upper_bound(a, a_end, *b_cut, less);
    auto upper = fork([&, out_cut = out + (a_cut - a) + (b_cut - b)] {
        merge_parallel(a_cut, a_end, b_cut, b_end, out_cut, less);
    });
    merge_parallel(a, a_cut, b, b_cut, out, less);
    upper.join();
}

// Sorts the n elements at `at`; the result is there, or at `spare` if `to_spare`.
template <class At, class Spare, class Less>
void merge_sort(At at, Spare spare, std::ptrdiff_t n, bool to_spare, Less const& less) {
    if (n <= k_insertion_length) {
        insertion_sort(at, at + n, less);
        if (to_spare) std::move(at, at + n, spare);
        return;
    }
    auto const half = n / 2;
    if (n < k_least_to_fork) {
        merge_sort(at, spare, half, !to_spare, less);
        merge_sort(at + half, spare + half, n - half, !to_spare, less);
    } else {
        auto upper = fork([&] { merge_sort(at + half, spare + half, n - half, !to_spare, less); });
        merge_sort(at, spare, half, !to_spare, less);
        upper.join();
    }
    if (to_spare)
        merge_parallel(at, at + half, at + half, at + n, spare, less);
    else
        merge_parallel(spare, spare + half, spare + half, spare + n, at, less);
}

} // namespace tulle::detail
