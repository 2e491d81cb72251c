// SPDX-License-Identifier: Apache-2.0
// Scans: the sums of all beginnings of a sequence. `combine` must be associative; the operands keep
// their order, and the result is the same in every run, with any number of workers. `out` may be
// `first`; otherwise the two must not overlap.
// Contexts, memory ordering, exceptions: as parallel_for.hpp says; after an exception what
// `out` holds is not specified.
// The sequence is cut into pieces: first the sum of each, then the sums of all before each, then
// its scan behind that (Blelloch 1990, "Prefix Sums and Their Applications"). That is done with as
// many pieces at a time as fit into the caches of the workers, so that memory is read once.
#pragma once

#include <tulle/detail/invoke.hpp>
#include <tulle/detail/loop_blocks.hpp>
#include <tulle/parallel_for.hpp>

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace tulle {

namespace detail {

enum class scan_kind { inclusive, exclusive };

// in(i) is element i; out(i, sum) takes its result.
template <scan_kind kind, class T, class In, class Out, class Combine> class scanner {
public:
    scanner(std::uint64_t count, In const& in, Out const& out, Combine const& combine)
        : m_pieces(count, count / k_piece), m_in(in), m_out(out), m_combine(combine) {}

    void run(std::optional<T> init) {
        if (m_pieces.count() == 1) return scan_piece(0, std::move(init));
        std::uint64_t const wave = loop_width() * k_pieces_of_worker;
        m_sums.resize(std::min(wave, m_pieces.count()));
        for (; m_begin != m_pieces.count(); m_begin = m_end) {
            m_end = std::min(m_begin + wave, m_pieces.count());
            for_groups([this](std::uint64_t piece) { reduce_group(piece); });
            init = sum_up(std::move(init));
            for_groups([this](std::uint64_t piece) { scan_group(piece); });
        }
    }

private:
    // Elements. Not a number of whole pages: a load from one lane would wait for the store to
    // another whose address has the same last twelve bits.
    static constexpr std::uint64_t k_piece = 2184;
    // Of a wave, for each worker: what has been reduced is in its cache still when it is scanned.
    static constexpr std::uint64_t k_cached_bytes = 512 << 10;
    static constexpr std::uint64_t k_pieces_of_worker =
        std::max<std::uint64_t>(k_cached_bytes / (k_piece * sizeof(T)) / k_lanes, 1) * k_lanes;

    template <class F> void for_groups(F const& f) {
        std::uint64_t const groups = (m_end - m_begin + k_lanes - 1) / k_lanes;
        run_chunks(groups, {}, [&](std::uint64_t first, std::uint64_t last) {
            for (std::uint64_t g = first; g != last; ++g) f(m_begin + g * k_lanes);
        });
    }
    // Of each piece of the wave becomes what is before it; what is before the next wave is
    // returned.
    std::optional<T> sum_up(std::optional<T> before) {
        for (std::uint64_t piece = m_begin; piece != m_end; ++piece) {
            std::optional<T>& sum = sum_of(piece);
            std::optional<T> up_to_here =
                before ? m_combine(*before, *std::move(sum)) : *std::move(sum);
            sum = std::exchange(before, std::move(up_to_here));
        }
        return before;
    }
    [[nodiscard]] std::optional<T>& sum_of(std::uint64_t piece) noexcept {
        return m_sums[piece - m_begin];
    }

    // Numbers go through the pieces of a group side by side, where all four are there.
    [[nodiscard]] bool goes_in_lanes(std::uint64_t piece) const noexcept {
        return runs_in_lanes<T> && piece + k_lanes <= m_end;
    }
    [[nodiscard]] std::uint64_t group_end(std::uint64_t piece) const noexcept {
        return std::min(piece + k_lanes, m_end);
    }

    void reduce_group(std::uint64_t piece) {
        if constexpr (runs_in_lanes<T>) {
            if (goes_in_lanes(piece)) return reduce_in_lanes(piece);
        }
        for (std::uint64_t const end = group_end(piece); piece != end; ++piece)
            sum_of(piece).emplace(
                reduce_serial<T>(m_pieces.begin(piece), m_pieces.end(piece), m_in, m_combine));
    }
    void scan_group(std::uint64_t piece) {
        if constexpr (runs_in_lanes<T>) {
            if (goes_in_lanes(piece) && sum_of(piece)) return scan_in_lanes(piece);
        }
        for (std::uint64_t const end = group_end(piece); piece != end; ++piece)
            scan_piece(piece, std::move(sum_of(piece)));
    }

    void scan_piece(std::uint64_t piece, std::optional<T> before) {
        for (std::uint64_t i = m_pieces.begin(piece), end = m_pieces.end(piece); i != end; ++i) {
            T sum = before ? m_combine(*before, m_in(i)) : T(m_in(i));
            if constexpr (kind == scan_kind::inclusive)
                m_out(i, sum);
            else
                m_out(i, *std::move(before));
            before.emplace(std::move(sum));
        }
    }

    // --- four pieces at once; some of them may have one element more -----------------------------

    TULLE_INLINE void step(std::uint64_t i, T& sum) {
        T const next = m_combine(sum, m_in(i));
        m_out(i, kind == scan_kind::inclusive ? next : sum);
        sum = next;
    }
    void reduce_in_lanes(std::uint64_t piece) {
        std::uint64_t const i = m_pieces.begin(piece), j = m_pieces.begin(piece + 1),
                            k = m_pieces.begin(piece + 2), l = m_pieces.begin(piece + 3);
        std::uint64_t const length = m_pieces.least();
        T a = m_in(i), b = m_in(j), c = m_in(k), d = m_in(l);
        for (std::uint64_t n = 1; n != length; ++n) {
            a = m_combine(a, m_in(i + n));
            b = m_combine(b, m_in(j + n));
            c = m_combine(c, m_in(k + n));
            d = m_combine(d, m_in(l + n));
        }
        std::array<T, k_lanes> const sums{a, b, c, d};
        for (std::uint64_t lane = 0; lane != k_lanes; ++lane) {
            std::uint64_t const p = piece + lane;
            bool const has_more = m_pieces.end(p) - m_pieces.begin(p) > length;
            sum_of(p) = has_more ? m_combine(sums[lane], m_in(m_pieces.end(p) - 1)) : sums[lane];
        }
    }
    void scan_in_lanes(std::uint64_t piece) {
        std::uint64_t const i = m_pieces.begin(piece), j = m_pieces.begin(piece + 1),
                            k = m_pieces.begin(piece + 2), l = m_pieces.begin(piece + 3);
        std::uint64_t const length = m_pieces.least();
        T a = *sum_of(piece), b = *sum_of(piece + 1), c = *sum_of(piece + 2),
          d = *sum_of(piece + 3);
        for (std::uint64_t n = 0; n != length; ++n) {
            step(i + n, a);
            step(j + n, b);
            step(k + n, c);
            step(l + n, d);
        }
        std::array<T, k_lanes> sums{a, b, c, d};
        for (std::uint64_t lane = 0; lane != k_lanes; ++lane) {
            std::uint64_t const p = piece + lane;
            if (m_pieces.end(p) - m_pieces.begin(p) > length) step(m_pieces.end(p) - 1, sums[lane]);
        }
    }

    loop_blocks m_pieces;
    std::uint64_t m_begin = 0, m_end = 0; // the pieces of this wave
    // Of its pieces; then of all before each, nothing before the first of all unless there is an
    // initial value.
    std::vector<std::optional<T>> m_sums;
    In const& m_in;
    Out const& m_out;
    Combine const& m_combine;
};

template <scan_kind kind, class T, class It, class Out, class Combine>
Out scan_elements(It first, It last, Out out, std::optional<T> init, Combine const& combine) {
    std::uint64_t const count = count_between(first, last);
    if (count == 0) return out;
    auto const in = [first](std::uint64_t i) -> decltype(auto) {
        return first[static_cast<std::iter_difference_t<It>>(i)];
    };
    auto const write = [out](std::uint64_t i, auto&& value) {
        out[static_cast<std::iter_difference_t<Out>>(i)] = std::forward<decltype(value)>(value);
    };
    auto const both = [&combine](auto&& a, auto&& b) -> T {
        return detail::invoke(combine, std::forward<decltype(a)>(a), std::forward<decltype(b)>(b));
    };
    scanner<kind, T, decltype(in), decltype(write), decltype(both)>(count, in, write, both)
        .run(std::move(init));
    return out + static_cast<std::iter_difference_t<Out>>(count);
}

} // namespace detail

// out[i] = first[0] + ... + first[i]. Returns the end of what was written.
template <std::random_access_iterator It, std::random_access_iterator Out,
          class Combine = std::plus<>>
Out parallel_inclusive_scan(It first, std::type_identity_t<It> last, Out out,
                            Combine combine = {}) {
    using T = std::iter_value_t<It>;
    return detail::scan_elements<detail::scan_kind::inclusive, T>(first, last, out,
                                                                  std::optional<T>(), combine);
}
// out[i] = init + first[0] + ... + first[i].
template <std::random_access_iterator It, std::random_access_iterator Out, class Combine, class T>
Out parallel_inclusive_scan(It first, std::type_identity_t<It> last, Out out, Combine combine,
                            T init) {
    return detail::scan_elements<detail::scan_kind::inclusive, T>(
        first, last, out, std::optional<T>(std::move(init)), combine);
}
// out[i] = init + first[0] + ... + first[i - 1]; out[0] = init.
template <std::random_access_iterator It, std::random_access_iterator Out, class T,
          class Combine = std::plus<>>
Out parallel_exclusive_scan(It first, std::type_identity_t<It> last, Out out, T init,
                            Combine combine = {}) {
    return detail::scan_elements<detail::scan_kind::exclusive, T>(
        first, last, out, std::optional<T>(std::move(init)), combine);
}

} // namespace tulle
