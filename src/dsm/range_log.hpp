// SPDX-License-Identifier: Apache-2.0
// A log of ranges of lines in memory that hosts share. One host writes it; others read it, each
// from where it has stopped. It is a ring: who falls behind by more than its length has missed
// something, and learns that.
#pragma once

#include "dsm/line_range.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::dsm {

// Zero bytes are an empty one.
template <class Machine, std::size_t Length> class range_log {
    static_assert((Length & (Length - 1)) == 0);
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    // By the writer. Readers see it once it is published.
    void append(line_range range) noexcept {
        while (range.count > k_most) {
            append_one({range.first, k_most});
            range = {range.first + k_most, range.count - k_most};
        }
        append_one(range);
    }
    // What happens before it happens before the end of a read() that has come as far.
    void publish() noexcept {
        // relaxed, but for the last one: this host's own; and read_newest has the fence
        std::uint64_t const end = m_begun.load(std::memory_order_relaxed);
        m_newest_end.store(end, std::memory_order_relaxed);
        Machine::fence(std::memory_order_release);
        m_newest.store(entry(end - 1).load(std::memory_order_relaxed), std::memory_order_relaxed);
        m_published.store(end, std::memory_order_release); // pairs with read
    }

    // Calls each(range) for what was published since `seen`. False: some of that is lost, and what
    // it was called for may be anything that was ever appended.
    template <class F> [[nodiscard]] bool read(std::uint64_t& seen, F each) const {
        std::uint64_t const from = seen;
        // acquire pairs with publish
        seen = m_published.load(std::memory_order_acquire);
        if (seen == from) return true;
        if (seen - from == 1 && read_newest(seen, each)) return true;
        for (std::uint64_t k = std::max(from, seen - std::min(seen, k_length)); k != seen; ++k)
            // relaxed: before `seen`, or else the fence finds it
            each(unpacked(entry(k).load(std::memory_order_relaxed)));
        // Pairs with the one of append_one: who reads a range that was written too early sees that
        // the writer has begun to write it.
        Machine::fence(std::memory_order_acquire);
        return m_begun.load(std::memory_order_relaxed) - from <= k_length;
    }
    // Whether read() would find something.
    [[nodiscard]] bool has_more(std::uint64_t seen) const noexcept {
        // relaxed: read() orders
        return m_published.load(std::memory_order_relaxed) != seen;
    }

private:
    static constexpr std::uint64_t k_length = Length;
    static constexpr unsigned k_count_bits = 24; // a number of lines that is never 0
    static constexpr std::uint64_t k_most = (std::uint64_t{1} << k_count_bits) - 1;

    [[nodiscard]] static std::uint64_t packed(line_range r) noexcept {
        return r.first << k_count_bits | r.count;
    }
    [[nodiscard]] static line_range unpacked(std::uint64_t word) noexcept {
        return {word >> k_count_bits, word & k_most};
    }
    [[nodiscard]] atomic<std::uint64_t>& entry(std::uint64_t k) noexcept {
        return m_ranges[k % Length];
    }
    [[nodiscard]] atomic<std::uint64_t> const& entry(std::uint64_t k) const noexcept {
        return m_ranges[k % Length];
    }
    // One range alone has been published since, which lies beside the number of all: two processors
    // that take turns wait for that line only. False: another one has come meanwhile.
    template <class F> [[nodiscard]] bool read_newest(std::uint64_t seen, F each) const {
        // relaxed, both: the fence orders them
        std::uint64_t const newest = m_newest.load(std::memory_order_relaxed);
        Machine::fence(std::memory_order_acquire); // pairs with the one of publish
        if (m_newest_end.load(std::memory_order_relaxed) != seen) return false;
        each(unpacked(newest));
        return true;
    }
    void append_one(line_range range) noexcept {
        // relaxed: this host alone writes these words; read() has the partner of the fence
        std::uint64_t const at = m_begun.load(std::memory_order_relaxed);
        m_begun.store(at + 1, std::memory_order_relaxed);
        Machine::fence(std::memory_order_release);
        entry(at).store(packed(range), std::memory_order_relaxed);
    }

    alignas(64) atomic<std::uint64_t> m_published{0};
    atomic<std::uint64_t> m_newest{0};     // the last range that was published, perhaps soon
    atomic<std::uint64_t> m_newest_end{0}; // how many there are with that one, or a later one
    alignas(64) atomic<std::uint64_t> m_begun{0};
    std::array<atomic<std::uint64_t>, Length> m_ranges{};
};

} // namespace tulle::dsm
