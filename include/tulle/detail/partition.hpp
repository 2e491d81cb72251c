// SPDX-License-Identifier: Apache-2.0
// Partition of a sequence by several threads, in blocks of a page that begin at pages, so that no
// two threads write to one cache line. Each thread takes a block from the left and one from the
// right end, notes which elements are on the wrong side, and swaps them in pairs; when one block is
// in order it takes the next from that end. What is left, a block for each thread at most, is
// brought to the middle and partitioned by one. After Tsigas and Zhang (2003,
// doi:10.1109/EMPDP.2003.1183613), whose idea qutil_qsort of Qthreads follows, too; the notes
// without branches are those of Edelkamp and Weiss (2016, "BlockQuicksort").
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/parallel_for.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace tulle::detail {

inline constexpr std::size_t k_page = 4096;
inline constexpr std::uint64_t k_most_in_block = 1024; // the notes lie on the stack

// Whether elements are moved as cheaply as numbers.
template <class T>
inline constexpr bool is_small = std::is_trivially_copyable_v<T> && sizeof(T) <= 16;

// Elements for which pred holds to the front; their end. Small elements without a branch that
// depends on them (Lomuto's scheme, which then always swaps).
template <class It, class Pred> It partition_serial(It first, It last, Pred const& pred) {
    if constexpr (is_small<std::iter_value_t<It>>) {
        It end = first;
        for (It it = first; it != last; ++it) {
            std::iter_value_t<It> const value = *it;
            *it = *end;
            *end = value;
            end += pred(value) ? 1 : 0;
        }
        return end;
    } else {
        return std::partition(first, last, pred);
    }
}

TULLE_API void sort_descending(std::vector<std::uint64_t>& numbers) noexcept;

template <class It, class Pred> class block_partition {
    using difference = std::iter_difference_t<It>;
    static constexpr std::uint64_t k_block =
        std::clamp<std::uint64_t>(k_page / sizeof(std::iter_value_t<It>), 1, k_most_in_block);

public:
    block_partition(It first, It last, Pred const& pred)
        : m_first(first),
          m_last(last),
          m_begin(first + elements_before_page(first, last)),
          m_pred(pred),
          m_blocks(static_cast<std::uint64_t>(last - m_begin) / k_block) {}

    It run(std::uint64_t threads) {
        std::vector<thread_state> states(threads);
        run_chunks(threads, schedule::dynamic(), [&](std::uint64_t from, std::uint64_t to) {
            for (std::uint64_t k = from; k != to; ++k) work(states[k]);
        });
        It const middle = partition_rest(states);
        return partition_edges(middle);
    }

private:
    // A block, and which of its elements are on the wrong side: wrong[begin..end).
    struct block_state {
        It at{};
        std::uint64_t number = 0;
        std::uint16_t begin = 0;
        std::uint16_t end = 0;
        std::array<std::uint16_t, k_block> wrong;
        [[nodiscard]] bool in_order() const noexcept { return begin == end; }
    };
    struct thread_state {
        std::uint64_t unfinished_left = k_none;
        std::uint64_t unfinished_right = k_none;
    };
    static constexpr std::uint64_t k_none = UINT64_MAX;

    static difference elements_before_page(It first, It last) {
        if constexpr (std::contiguous_iterator<It>) {
            std::size_t const past =
                reinterpret_cast<std::uintptr_t>(std::to_address(first)) % k_page;
            auto const skip =
                static_cast<difference>((k_page - past) % k_page / sizeof(std::iter_value_t<It>));
            return std::min(skip, last - first);
        } else {
            return 0;
        }
    }
    [[nodiscard]] It block(std::uint64_t number) const {
        return m_begin + static_cast<difference>(number * k_block);
    }

    // Numbers from the left, and from the right as seen from the left end. relaxed: the elements
    // were published with the loop, and nobody else touches a block that was given out.
    [[nodiscard]] bool take(std::atomic<std::uint64_t>& side, std::uint64_t& number) noexcept {
        if (m_taken.fetch_add(1, std::memory_order_relaxed) >= m_blocks) return false;
        number = side.fetch_add(1, std::memory_order_relaxed);
        return true;
    }
    template <class Wrong>
    void note(block_state& b, It at, std::uint64_t number, Wrong const& wrong) {
        b.at = at;
        b.number = number;
        b.begin = 0;
        std::uint16_t count = 0;
        for (std::uint16_t i = 0; i != k_block; ++i) {
            b.wrong[count] = i;
            count = static_cast<std::uint16_t>(count + (wrong(at[i]) ? 1 : 0));
        }
        b.end = count;
    }
    bool take_left(block_state& b) {
        std::uint64_t number = 0;
        if (!take(m_left, number)) return false;
        note(b, block(number), number, [this](auto const& x) { return !m_pred(x); });
        return true;
    }
    bool take_right(block_state& b) {
        std::uint64_t number = 0;
        if (!take(m_right, number)) return false;
        note(b, block(m_blocks - 1 - number), number, [this](auto const& x) { return m_pred(x); });
        return true;
    }

    void work(thread_state& result) {
        block_state left;
        block_state right;
        for (;;) {
            if (left.in_order() && !take_left(left)) break;
            if (right.in_order() && !take_right(right)) break;
            auto const pairs = std::min(left.end - left.begin, right.end - right.begin);
            for (int k = 0; k != pairs; ++k)
                std::iter_swap(left.at + left.wrong[left.begin++],
                               right.at + right.wrong[right.begin++]);
        }
        if (!left.in_order()) result.unfinished_left = left.number;
        if (!right.in_order()) result.unfinished_right = right.number;
    }

    // The unfinished blocks of one side, which has `count`, next to the middle; how many. `at`
    // finds a block of that side.
    template <class At>
    static std::uint64_t gather(std::vector<std::uint64_t> unfinished, std::uint64_t count,
                                At const& at) {
        sort_descending(unfinished);
        // From the last block on, each unfinished one takes the last place not taken.
        std::uint64_t place = count;
        for (std::uint64_t const number : unfinished) {
            --place;
            if (number != place)
                std::swap_ranges(at(number), at(number) + static_cast<difference>(k_block),
                                 at(place));
        }
        return unfinished.size();
    }
    It partition_rest(std::vector<thread_state> const& states) {
        std::vector<std::uint64_t> left;
        std::vector<std::uint64_t> right;
        for (thread_state const& s : states) {
            if (s.unfinished_left != k_none) left.push_back(s.unfinished_left);
            if (s.unfinished_right != k_none) right.push_back(s.unfinished_right);
        }
        // relaxed: the loop has ended
        std::uint64_t const lefts = m_left.load(std::memory_order_relaxed);
        std::uint64_t const left_rest =
            gather(left, lefts, [this](std::uint64_t k) { return block(k); });
        std::uint64_t const right_rest = gather(
            right, m_blocks - lefts, [this](std::uint64_t k) { return block(m_blocks - 1 - k); });
        return partition_serial(block(lefts - left_rest), block(lefts + right_rest), m_pred);
    }
    // The elements before the first whole page and behind the last one.
    It partition_edges(It middle) {
        for (It it = m_begin; it != m_first;) {
            if (!m_pred(*--it)) std::iter_swap(it, --middle);
        }
        for (It it = block(m_blocks); it != m_last; ++it) {
            if (m_pred(*it)) std::iter_swap(it, middle++);
        }
        return middle;
    }

    It m_first;
    It m_last;
    It m_begin;
    Pred const& m_pred;
    std::uint64_t m_blocks;
    alignas(64) std::atomic<std::uint64_t> m_taken{0};
    std::atomic<std::uint64_t> m_left{0};
    std::atomic<std::uint64_t> m_right{0};
};

// Below this, one thread is faster.
inline constexpr std::uint64_t k_least_to_partition = std::uint64_t{1} << 16U;

// Not inlined, as what it needs on the stack would be in each frame of a recursive caller.
template <class It, class Pred>
TULLE_NOINLINE It partition_elements(It first, It last, Pred const& pred) {
    std::uint64_t const threads = loop_width();
    if (threads == 1 || count_between(first, last) < k_least_to_partition)
        return partition_serial(first, last, pred);
    return block_partition<It, Pred>(first, last, pred).run(threads);
}

} // namespace tulle::detail
