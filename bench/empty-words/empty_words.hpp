// SPDX-License-Identifier: Apache-2.0
// empty-words: n cells of one word each, all empty at the same time; then each is filled. Each run
// has a process of its own, so page faults count. Figures: ns per cell, and bytes per cell by which
// resident memory grew, beyond the words themselves.
#pragma once

#include "../common/harness.hpp"
#include "../common/memory.hpp"

#include <cstddef>
#include <vector>

namespace tulle::bench {

// Cells: Cells(n); empty(k), fill(k), is_full(k); k_word_bytes: what the words take that are there
// anyway.
template <class Library, class Cells> child_result empty_words_once(settings const& s) {
    Library library(s.workers);
    child_result result;
    library.run([&] {
        auto const n = static_cast<std::size_t>(s.n);
        double const before = resident_bytes();
        Cells cells(n);
        double time = time_of([&] {
            for (std::size_t k = 0; k < n; ++k) cells.empty(k);
        });
        result.bytes = (resident_bytes() - before) / static_cast<double>(n) - Cells::k_word_bytes;
        result.ok = true;
        for (std::size_t k = 0; k < n; ++k) result.ok = result.ok && !cells.is_full(k);
        time += time_of([&] {
            for (std::size_t k = 0; k < n; ++k) cells.fill(k);
        });
        result.time = 1e9 * time / static_cast<double>(n);
    });
    return result;
}

template <class Library, class Cells>
int empty_words_main(int argc, char** argv, char const* name) {
    settings const s = parse(argc, argv, {1'000'000, 100'000});
    pin_if_single(s);
    figure cost{"ns"}, memory{"bytes"};
    for (int i = 0; i < s.runs; ++i) {
        child_result const r = in_child([&] { return empty_words_once<Library, Cells>(s); });
        cost.add(r.time, r.ok);
        memory.add(r.bytes, r.ok);
    }
    return print_all("empty-words", name, s, {cost, memory});
}

} // namespace tulle::bench
