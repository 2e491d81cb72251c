// SPDX-License-Identifier: Apache-2.0
// By a clock of X10's kind, which activities at all places advance.
#include "threads.hpp"

namespace tulle::bench {
namespace {

double time_barriers(barrier_check const& check, int threads, long n) {
    double time = 0;
    tulle::finish([&](tulle::activities& all) {
        tulle::clock const own = tulle::clock::make();
        for (int t = 1; t < threads; ++t)
            own.async_at(
                all, tulle::place(t % tulle::place_count()),
                [](tulle::clock const& c, barrier_check shared, long count) {
                    pass_barriers(shared, count, [&c] { c.advance(); });
                },
                check, n);
        time = time_of_barriers(check, n, [&own] { own.advance(); });
        own.drop();
    });
    return time;
}

} // namespace

benchmark const registered("barrier", "tulle_clock", [](int argc, char** argv) {
    return barrier_of_threads_main(argc, argv, "tulle_clock", &time_barriers);
});

} // namespace tulle::bench
