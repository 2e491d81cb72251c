// SPDX-License-Identifier: Apache-2.0
// create-many: n threads created, then all joined. Each run has a process of its own, so page
// faults count. Figures:
// ns per thread, and bytes per thread by which the peak of resident memory grew.
#pragma once

#include "../common/harness.hpp"
#include "../common/memory.hpp"

#include <algorithm>
#include <atomic>

namespace tulle::bench {

template <class Library> child_result create_many_once(settings const& s) {
    Library library(s.workers);
    child_result result;
    std::atomic<long> ran{0};
    double resident = 0;
    library.run([&] {
        resident = resident_bytes();
        result.time = time_of([&] {
            typename Library::group threads;
            for (long k = 0; k < s.n; ++k)
                threads.spawn([&ran] { ran.fetch_add(1, std::memory_order_relaxed); });
            threads.wait();
        });
    });
    auto const n = static_cast<double>(s.n);
    result.bytes = std::max(0.0, peak_resident_bytes() - resident) / n;
    result.time *= 1e9 / n;
    // The join orders the counts before this.
    result.ok = ran.load(std::memory_order_relaxed) == s.n;
    return result;
}

template <class Library>
int create_many_main(int argc, char** argv, sizes size = {1'000'000, 50'000}) {
    settings const s = parse(argc, argv, size);
    pin_if_single(s);
    figure cost{"ns"};
    figure memory{"bytes"};
    for (int i = 0; i < s.runs; ++i) {
        child_result const r = in_child([&] { return create_many_once<Library>(s); });
        cost.add(r.time, r.ok);
        memory.add(r.bytes, r.ok);
    }
    return print_all("create-many", Library::k_name, s, {cost, memory});
}

} // namespace tulle::bench
