// SPDX-License-Identifier: Apache-2.0
// remote-create: one thread creates n threads at all places in turn, and waits for all; ns for
// each. The threads count.
#include "../common/places.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

namespace tulle::bench {
namespace {

std::atomic<long> s_started{0}; // at this place

bool create_all(long n) {
    tulle::finish([n](tulle::activities& all) {
        int const places = tulle::place_count();
        for (long k = 0; k < n; ++k)
            all.async_at(tulle::place(static_cast<int>(k % places)),
                         [] { s_started.fetch_add(1, std::memory_order_relaxed); });
    });
    long counted = 0;
    for (tulle::place const p : tulle::places())
        counted += tulle::at(p, [] { return s_started.exchange(0); });
    return counted == n;
}

int run(int argc, char** argv) {
    settings const s = parse(argc, argv, {100'000, 10'000});
    tulle_places library(s);
    std::vector<figure> figures;
    library.run([&] {
        for (long n = 1; n <= s.n; n *= 10) {
            figure cost{"ns/thread of " + std::to_string(n),
                        {"", "threads", static_cast<double>(n)}};
            long const times = std::max(1L, s.n / 10 / n);
            bool right = create_all(n);
            for (int run = 0; run < s.runs; ++run) {
                double const time = time_of([&] {
                    for (long k = 0; k < times; ++k) right &= create_all(n);
                });
                cost.add(1e9 * time / static_cast<double>(times * n), right);
            }
            figures.push_back(cost);
        }
    });
    return print_all("remote-create", "tulle", s, figures);
}

} // namespace

benchmark const registered("remote-create", "tulle", run);

} // namespace tulle::bench
