// SPDX-License-Identifier: Apache-2.0
// By a clock of X10's kind, which activities at all places advance.
#include "threads.hpp"

namespace tulle::bench {
namespace {

void advance_often(tulle::clock const& own, long count) {
    for (long k = 0; k < count; ++k) own.advance();
}

// The first round starts the clock.
double time_barriers(int threads, long n) {
    double time = 0;
    tulle::finish([&](tulle::activities& all) {
        tulle::clock const own = tulle::clock::make();
        for (int t = 1; t < threads; ++t)
            own.async_at(
                all, tulle::place(t % tulle::place_count()), [](tulle::clock const& c, long count) { advance_often(c, count); }, n + 1);
        own.advance();
        time = time_of([&] { advance_often(own, n); });
        own.drop();
    });
    return time;
}

} // namespace
} // namespace tulle::bench

int main(int argc, char** argv) { return tulle::bench::barrier_of_threads_main(argc, argv, "tulle_clock", &tulle::bench::time_barriers); }
