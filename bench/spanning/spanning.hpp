// SPDX-License-Identifier: Apache-2.0
// spanning: one read, and one write, of the memory of all places, 64 KiB of each, which is the
// least that a place may have. Figures: ns of a read, of a write.
// Source: Ye and others, "TiNy Threads on BlueGene/P" (2009), section 4.3.2 and figure 4, where it
// is 1 KiB of each.
#pragma once

#include "../common/harness.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tulle::bench {

inline constexpr std::size_t k_span_of_each = std::size_t{64} << 10U;
inline constexpr sizes k_span_counts{2'000, 100};

// `Memory` has read(to, bytes) and write(from, bytes) of all places.
template <class Memory> std::vector<figure> measure_spans(Memory& memory, settings const& s) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(s.places) * k_span_of_each);
    figure read{"ns, one read of all places"};
    figure write{"ns, one write to all places"};
    for (int run = 0; run < s.runs; ++run) {
        auto const mark = static_cast<unsigned char>(1 + run % 255);
        std::fill(bytes.begin(), bytes.end(), mark);
        auto const each = [&s](double time) { return 1e9 * time / static_cast<double>(s.n); };
        double const writing = each(time_of([&] {
            for (long k = 0; k < s.n; ++k) memory.write(bytes.data(), bytes.size());
        }));
        std::fill(bytes.begin(), bytes.end(), 0);
        double const reading = each(time_of([&] {
            for (long k = 0; k < s.n; ++k) memory.read(bytes.data(), bytes.size());
        }));
        bool const right = std::all_of(bytes.begin(), bytes.end(),
                                       [mark](unsigned char byte) { return byte == mark; });
        write.add(writing, right);
        read.add(reading, right);
    }
    return {read, write};
}

} // namespace tulle::bench
