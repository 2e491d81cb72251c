// SPDX-License-Identifier: Apache-2.0
// Scans: the sums of all beginnings of a sequence. `combine` must be associative; the operands keep their order, and the result is the same
// in every run, with any number of workers. `out` may be `first`; otherwise the two must not overlap.
// Who may call, memory ordering, exceptions: as parallel_for.hpp says; after an exception what `out` holds is not specified.
// Each block is reduced, waits for the sum of all before it, passes on that of all up to its end, and is then scanned while it is still in
// the cache: a chained scan (Merrill and Garland 2016, "Single-pass Parallel Prefix Scan"), which reads memory once.
#pragma once

#include <tulle/detail/loop_blocks.hpp>
#include <tulle/parallel_for.hpp>
#include <tulle/this_thread.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tulle {

namespace detail {

enum class scan_kind { inclusive, exclusive };

// The sum of all that is before each block, handed from block to block.
template <class T> class scan_chain {
public:
    explicit scan_chain(std::uint64_t blocks) : m_before(blocks + 1), m_ready(0) {}

    // Blocks are given out in their order, so each one's predecessor has been begun.
    [[nodiscard]] std::uint64_t take_block() noexcept { return m_next.fetch_add(1, std::memory_order_relaxed); } // relaxed: a number
    // Null: a block has failed. acquire pairs with the release in pass_on.
    [[nodiscard]] std::optional<T> const* wait_for(std::uint64_t block) noexcept {
        for (unsigned spins = 1; m_ready.load(std::memory_order_acquire) < block; ++spins) {
            if (m_failed.load(std::memory_order_relaxed)) return nullptr; // relaxed: nothing is read on its strength
            if (spins % k_spins_per_yield == 0)
                this_thread::yield();
            else
                cpu_pause();
        }
        return &m_before[block];
    }
    template <class... A> void pass_on(std::uint64_t block, A&&... sum) {
        m_before[block + 1].emplace(std::forward<A>(sum)...);
        m_ready.store(block + 1, std::memory_order_release); // pairs with wait_for
    }
    void set_first(std::optional<T> init) { m_before[0] = std::move(init); }
    void fail() noexcept { m_failed.store(true, std::memory_order_relaxed); }

private:
    static constexpr unsigned k_spins_per_yield = 64;

    std::vector<std::optional<T>> m_before; // the first may be empty: nothing comes before the first element
    alignas(64) std::atomic<std::uint64_t> m_next{0};
    alignas(64) std::atomic<std::uint64_t> m_ready; // of m_before, as many as are there behind the first
    std::atomic<bool> m_failed{false};
};

// Writes the scan of [begin, end) behind `before`.
template <scan_kind kind, class T, class In, class Out, class Combine>
TULLE_INLINE void scan_serial(std::uint64_t begin, std::uint64_t end, std::optional<T> before, In const& in, Out const& out,
                              Combine const& combine) {
    for (std::uint64_t i = begin; i != end; ++i) {
        T sum = before ? combine(*before, in(i)) : T(in(i));
        if constexpr (kind == scan_kind::inclusive)
            out(i, sum);
        else
            out(i, *std::move(before));
        before.emplace(std::move(sum));
    }
}

// The same for numbers, the lanes side by side; their sums are known.
template <scan_kind kind, class T, class In, class Out, class Combine>
TULLE_INLINE void scan_lanes(std::uint64_t begin, lane_values<T> const& lanes, std::array<T, k_lanes> before, In const& in, Out const& out,
                             Combine const& combine) {
    auto const step = [&](std::uint64_t i, T& sum) {
        T const next = combine(sum, in(i));
        out(i, kind == scan_kind::inclusive ? next : sum);
        sum = next;
    };
    auto [a, b, c, d] = before;
    for (std::uint64_t i = begin; i != begin + lanes.length; ++i) {
        step(i, a);
        step(i + lanes.length, b);
        step(i + 2 * lanes.length, c);
        step(i + 3 * lanes.length, d);
    }
}

template <scan_kind kind, class T, class In, class Out, class Combine> class scanner {
public:
    scanner(std::uint64_t count, std::optional<T> init, In const& in, Out const& out, Combine const& combine)
        : m_blocks(count, (count + k_block - 1) / k_block), m_chain(m_blocks.count()), m_in(in), m_out(out), m_combine(combine) {
        m_chain.set_first(std::move(init));
    }
    void run() {
        run_chunks(m_blocks.count(), schedule::dynamic(), [this](std::uint64_t first, std::uint64_t last) {
            for (std::uint64_t i = first; i != last; ++i) scan_block_or_fail(m_chain.take_block());
        });
    }

private:
    static constexpr std::uint64_t k_block = 8192;

    void scan_block_or_fail(std::uint64_t block) {
        try {
            scan_block(block, m_blocks.begin(block), m_blocks.end(block));
        } catch (...) {
            m_chain.fail();
            throw;
        }
    }
    void scan_block(std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
        if constexpr (runs_in_lanes<T>) {
            if (end - begin >= k_least_in_lanes) return scan_block_in_lanes(block, begin, end);
        }
        T sum = reduce_serial<T>(begin, end, m_in, m_combine);
        std::optional<T> const* const before = m_chain.wait_for(block);
        if (before == nullptr) return;
        m_chain.pass_on(block, *before ? m_combine(**before, std::move(sum)) : std::move(sum));
        scan_serial<kind, T>(begin, end, *before, m_in, m_out, m_combine);
    }
    void scan_block_in_lanes(std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
        auto const lanes = reduce_lanes<T>(begin, end, m_in, m_combine);
        std::uint64_t const rest = begin + k_lanes * lanes.length;
        std::optional<T> const* const before = m_chain.wait_for(block);
        if (before == nullptr) return;
        // The sums up to the end of each lane.
        T const a = *before ? m_combine(**before, lanes.of[0]) : lanes.of[0];
        T const b = m_combine(a, lanes.of[1]);
        T const c = m_combine(b, lanes.of[2]);
        T const d = m_combine(c, lanes.of[3]);
        T sum = d;
        for (std::uint64_t i = rest; i != end; ++i) sum = m_combine(sum, m_in(i));
        m_chain.pass_on(block, sum);
        std::uint64_t skipped = 0;
        T first{};
        if (*before) {
            first = **before;
        } else { // only an inclusive scan begins with nothing
            first = m_in(begin);
            m_out(begin, first);
            skipped = 1;
        }
        scan_serial<kind, T>(rest, end, d, m_in, m_out, m_combine);
        if (skipped != 0) return scan_first_lanes(begin, lanes, first, {a, b, c});
        scan_lanes<kind, T>(begin, lanes, {first, a, b, c}, m_in, m_out, m_combine);
    }
    // Of a sequence without a value before it.
    void scan_first_lanes(std::uint64_t begin, lane_values<T> const& lanes, T first, std::array<T, 3> const& sums) {
        std::uint64_t const length = lanes.length;
        scan_serial<kind, T>(begin + 1, begin + length, first, m_in, m_out, m_combine);
        for (std::uint64_t k = 1; k != k_lanes; ++k)
            scan_serial<kind, T>(begin + k * length, begin + (k + 1) * length, sums[k - 1], m_in, m_out, m_combine);
    }

    loop_blocks m_blocks;
    scan_chain<T> m_chain;
    In const& m_in;
    Out const& m_out;
    Combine const& m_combine;
};

template <scan_kind kind, class T, class It, class Out, class Combine>
Out scan_elements(It first, It last, Out out, std::optional<T> init, Combine const& combine) {
    std::uint64_t const count = count_between(first, last);
    if (count == 0) return out;
    auto const in = [first](std::uint64_t i) -> decltype(auto) { return first[static_cast<std::iter_difference_t<It>>(i)]; };
    auto const write = [out](std::uint64_t i, auto&& value) { out[static_cast<std::iter_difference_t<Out>>(i)] = std::forward<decltype(value)>(value); };
    auto const both = [&combine](auto&& a, auto&& b) -> T {
        return std::invoke(combine, std::forward<decltype(a)>(a), std::forward<decltype(b)>(b));
    };
    scanner<kind, T, decltype(in), decltype(write), decltype(both)>(count, std::move(init), in, write, both).run();
    return out + static_cast<std::iter_difference_t<Out>>(count);
}

} // namespace detail

// out[i] = first[0] + ... + first[i]. Returns the end of what was written.
template <std::random_access_iterator It, std::random_access_iterator Out, class Combine = std::plus<>>
Out parallel_inclusive_scan(It first, std::type_identity_t<It> last, Out out, Combine combine = {}) {
    using T = std::iter_value_t<It>;
    return detail::scan_elements<detail::scan_kind::inclusive, T>(first, last, out, std::optional<T>(), combine);
}
// out[i] = init + first[0] + ... + first[i].
template <std::random_access_iterator It, std::random_access_iterator Out, class Combine, class T>
Out parallel_inclusive_scan(It first, std::type_identity_t<It> last, Out out, Combine combine, T init) {
    return detail::scan_elements<detail::scan_kind::inclusive, T>(first, last, out, std::optional<T>(std::move(init)), combine);
}
// out[i] = init + first[0] + ... + first[i - 1]; out[0] = init.
template <std::random_access_iterator It, std::random_access_iterator Out, class T, class Combine = std::plus<>>
Out parallel_exclusive_scan(It first, std::type_identity_t<It> last, Out out, T init, Combine combine = {}) {
    return detail::scan_elements<detail::scan_kind::exclusive, T>(first, last, out, std::optional<T>(std::move(init)), combine);
}

} // namespace tulle
