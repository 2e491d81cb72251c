// SPDX-License-Identifier: Apache-2.0
// barrier: all places wait for each other, n times in a row, one thread at each. Figure: ns of a
// barrier.
#include "threads.hpp"

namespace tulle::bench {
namespace {

double time_barriers(barrier_check const& check, long n) {
    double time = 0;
    tulle::finish([&](tulle::activities& all) {
        tulle::team const everywhere;
        for (tulle::place const p : tulle::places())
            if (p != tulle::here())
                all.async_at(
                    p,
                    [](tulle::team mine, barrier_check shared, long count) {
                        pass_barriers(shared, count, [&mine] { mine.barrier(); });
                    },
                    everywhere, check, n);
        time = time_of_barriers(check, n, [&everywhere] { everywhere.barrier(); });
    });
    return time;
}

int run(int argc, char** argv) {
    settings const s = parse(argc, argv, {20'000, 2'000});
    tulle_places library(s);
    figure cost{"ns"};
    library.run([&] {
        for (int run = -1; run < s.runs; ++run) { // run -1 warms up
            auto const check = barrier_check::make(s.places);
            long const n = run < 0 ? 100 : s.n;
            double const time = time_barriers(check, n);
            bool const right = check.destroy();
            if (run >= 0) cost.add(1e9 * time / static_cast<double>(n), right);
        }
    });
    return print_all("barrier", "tulle", s, {cost});
}

} // namespace

benchmark const registered("barrier", "tulle", run);

} // namespace tulle::bench
