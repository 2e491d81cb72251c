// SPDX-License-Identifier: Apache-2.0
// Threads on the shepherds of all places: prints where each was, and in which process. Driven by
// global_shepherd_test.py.
#include <tulle/tulle.hpp>

#include <cstdio>
#include <tuple>

#include <unistd.h>

namespace {

int s_visits = 0; // of this place: a domain of protection of its own

} // namespace

int main() {
    tulle::initialize();
    auto const all = tulle::global_shepherds();
    for (tulle::global_shepherd const s : all) {
        auto const [where, process, visits] = tulle::at(s, [] {
            return std::tuple(tulle::this_thread::get_location(), static_cast<int>(::getpid()),
                              ++s_visits);
        });
        int const later =
            tulle::async_at(s, [] { return tulle::this_thread::shepherd_index(); }).get();
        if (later != s.shepherd) std::printf("async_at has run on %d\n", later);
        std::printf("%d.%d %d.%d process %d visit %d\n", s.place, s.shepherd, where.place,
                    where.shepherd, process, visits);
    }
    std::printf("from %d.%d:", all.back().place, all.back().shepherd);
    for (tulle::global_shepherd const s : tulle::nearest_shepherds(all.back()))
        std::printf(" %d.%d=%d", s.place, s.shepherd, tulle::shepherd_distance(all.back(), s));
    std::printf("\n");
}
