// SPDX-License-Identifier: Apache-2.0
// local-start: what it takes to start an activity on the same worker. Two times of each spawn, in ns and in cycles of the
// CPU's time stamp counter: `start`, until the child's first instruction, with the join that lets it run; and `continue`,
// until the spawner goes on. Each figure is a mean of n spawns without the outliers; the counter's own cost, which the
// serial row shows, is in it.
#pragma once

#include "../common/cycles.hpp"
#include "../common/harness.hpp"

namespace tulle::bench {

struct start_samples {
    std::vector<double> start;
    std::vector<double> go_on;
};

template <class Library> start_samples take_start_samples(long n) {
    start_samples samples;
    samples.start.reserve(static_cast<std::size_t>(n));
    samples.go_on.reserve(static_cast<std::size_t>(n));
    for (long k = 0; k < n; ++k) {
        std::uint64_t started = 0;
        std::uint64_t continued = 0;
        std::uint64_t const begin = cycles();
        Library::invoke([&started] { started = cycles(); }, [&continued] { continued = cycles(); });
        samples.start.push_back(static_cast<double>(started - begin));
        samples.go_on.push_back(static_cast<double>(continued - begin));
    }
    return samples;
}

template <class Library> int local_start_main(int argc, char** argv, sizes size = {100'000, 10'000}) {
    settings const s = parse(argc, argv, size);
    pin_if_single(s);
    Library library(s.workers);
    double const ns = nanoseconds_per_cycle();
    std::vector<figure> figures{{"ns start"}, {"ns continue"}, {"cycles start"}, {"cycles continue"}};
    for (int i = 0; i < s.runs; ++i) {
        start_samples samples;
        library.run([&] { samples = take_start_samples<Library>(s.n); });
        bool const right = samples.start.size() == static_cast<std::size_t>(s.n);
        double const start = middle_mean(samples.start);
        double const go_on = middle_mean(samples.go_on);
        figures[0].add(start * ns, right);
        figures[1].add(go_on * ns, right);
        figures[2].add(start, right);
        figures[3].add(go_on, right);
    }
    return print_all("local-start", Library::k_name, s, figures);
}

} // namespace tulle::bench
