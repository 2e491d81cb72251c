// SPDX-License-Identifier: Apache-2.0
// behind-blocked: as many threads as there are workers sit in read(2) of a pipe, a call that the
// library does not know of; one more thread is made then, which lets them go on. The time until it
// runs, n times. Figures: us, the first time (nothing is warm), median, and the longest.
// What is right: each read gets its byte.
#pragma once

#include "../common/alongside.hpp"
#include "../common/harness.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include <unistd.h>

namespace tulle::bench {

template <class Library> double behind_blocked_sample(int readers, int const* ends, bool& ok) {
    std::atomic<int> reading{0}, got{0};
    std::vector<typename Library::event> ended(static_cast<std::size_t>(readers) + 1);
    for (int k = 0; k < readers; ++k)
        Library::detach([&, k] {
            reading.fetch_add(1, std::memory_order_relaxed); // relaxed, all: the events order them
            char byte = 0;
            if (::read(ends[0], &byte, 1) == 1) got.fetch_add(1, std::memory_order_relaxed);
            ended[static_cast<std::size_t>(k)].set();
        });
    while (reading.load(std::memory_order_relaxed) < readers) std::this_thread::yield();
    std::atomic<double> ran{0};
    double const at = seconds();
    Library::detach([&] {
        ran.store(seconds(), std::memory_order_relaxed);
        std::vector<char> const bytes(static_cast<std::size_t>(readers));
        if (::write(ends[1], bytes.data(), bytes.size()) != readers)
            got.store(-1, std::memory_order_relaxed);
        ended.back().set();
    });
    for (auto& e : ended) e.wait();
    ok = ok && got.load(std::memory_order_relaxed) == readers;
    return 1e6 * (ran.load(std::memory_order_relaxed) - at);
}

template <class Library> int behind_blocked_main(int argc, char** argv) {
    settings const s = parse(argc, argv, {100, 20});
    std::vector<figure> figures{{"us, first"}, {"us, median"}, {"us, longest"}};
    Library library(s.workers);
    int ends[2];
    if (::pipe(ends) != 0) return 1;
    run_alongside(library, [&] {
        for (int i = 0; i < s.runs; ++i) {
            std::vector<double> samples;
            bool ok = true;
            for (long k = 0; k < s.n; ++k)
                samples.push_back(behind_blocked_sample<Library>(s.workers, ends, ok));
            figures[0].add(samples.front(), ok);
            figures[1].add(median(samples), ok);
            figures[2].add(*std::max_element(samples.begin(), samples.end()), ok);
            std::this_thread::sleep_for(std::chrono::seconds(3)); // what was warm is cold again
        }
    });
    return print_all("behind-blocked", Library::k_name, s, figures);
}

} // namespace tulle::bench
