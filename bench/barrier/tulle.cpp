// SPDX-License-Identifier: Apache-2.0
// barrier: all places wait for each other, n times in a row, one thread at each. Figure: ns of a barrier.
#include "../common/places.hpp"

#include <vector>

namespace tulle::bench {
namespace {

double time_barriers(long n) {
    double time = 0;
    tulle::finish([&](tulle::activities& all) {
        tulle::team const everywhere;
        for (tulle::place const p : tulle::places())
            if (p != tulle::here())
                all.async_at(
                    p,
                    [](tulle::team mine, long count) {
                        for (long k = 0; k <= count; ++k) mine.barrier();
                    },
                    everywhere, n);
        everywhere.barrier();
        time = time_of([&] {
            for (long k = 0; k < n; ++k) everywhere.barrier();
        });
    });
    return time;
}

int run(int argc, char** argv) {
    settings const s = parse(argc, argv, {20'000, 2'000});
    tulle_places library(s);
    figure cost{"ns"};
    library.run([&] {
        static_cast<void>(time_barriers(100));
        for (int run = 0; run < s.runs; ++run) cost.add(1e9 * time_barriers(s.n) / static_cast<double>(s.n), true);
    });
    return print_all("barrier", "tulle", s, {cost});
}

} // namespace
} // namespace tulle::bench

int main(int argc, char** argv) { return tulle::bench::run(argc, argv); }
