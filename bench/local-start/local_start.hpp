// SPDX-License-Identifier: Apache-2.0
// local-start: what it takes to start activities on the same worker. The reading of a clock takes
// as long as a start, and some processors' counters go in steps of tens of cycles: so a spawner
// starts 32 in a row and then joins them, the last first, and the times are parts of what all took.
// `continue`: until the spawner goes on. `start`: until the child has run, which does no more than
// leave a mark, and has been joined. Both in ns and in cycles of the CPU's time stamp counter, each
// a mean of n spawns without the outliers among the rows of 32.
#pragma once

#include "../common/cycles.hpp"
#include "../common/harness.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tulle::bench {

struct start_samples {
    std::vector<double> start{};
    std::vector<double> go_on{};
    bool right = true; // each child has run, once in each row
};

template <class Library> class row_of_starts {
public:
    static constexpr std::size_t k_children = 32;

    void take(start_samples& samples) {
        m_marks = {};
        std::uint64_t const begin = cycles();
        start_from(0);
        std::uint64_t const end = cycles();
        samples.start.push_back(static_cast<double>(end - begin) / k_children);
        samples.go_on.push_back(static_cast<double>(m_last_goes_on - begin) / k_children);
        samples.right = samples.right && std::all_of(m_marks.begin(), m_marks.end(),
                                                     [](int runs) { return runs == 1; });
    }

private:
    void start_from(std::size_t k) {
        if (k == k_children) {
            m_last_goes_on = cycles();
            return;
        }
        Library::invoke([&mark = m_marks[k]] { ++mark; }, [this, k] { start_from(k + 1); });
    }

    std::array<int, k_children> m_marks{};
    std::uint64_t m_last_goes_on = 0;
};

template <class Library> start_samples take_start_samples(long n) {
    start_samples samples;
    row_of_starts<Library> row;
    constexpr auto k_children = static_cast<long>(row_of_starts<Library>::k_children);
    for (long k = 0; k < n; k += k_children) row.take(samples);
    return samples;
}

template <class Library>
int local_start_main(int argc, char** argv, sizes size = {1'000'000, 50'000}) {
    settings const s = parse(argc, argv, size);
    pin_if_single(s);
    Library library(s.workers);
    double const ns = nanoseconds_per_cycle();
    std::vector<figure> figures{
        {"ns start"}, {"ns continue"}, {"cycles start"}, {"cycles continue"}};
    for (int i = 0; i < s.runs; ++i) {
        start_samples samples;
        library.run([&] { samples = take_start_samples<Library>(s.n); });
        double const start = middle_mean(samples.start);
        double const go_on = middle_mean(samples.go_on);
        figures[0].add(start * ns, samples.right);
        figures[1].add(go_on * ns, samples.right);
        figures[2].add(start, samples.right);
        figures[3].add(go_on, samples.right);
    }
    return print_all("local-start", Library::k_name, s, figures);
}

} // namespace tulle::bench
