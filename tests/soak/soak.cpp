// SPDX-License-Identifier: Apache-2.0
//
// Random programs on Tulle and on the sequential model, each with its own number of workers and
// shepherds.
#include "main.hpp"
#include "model.hpp"
#include "player.hpp"

#include <cinttypes>
#include <cstdio>

namespace {

using namespace soak;

void print(char const* who, result const& r) {
    std::printf("  %s: value %016" PRIx64 "%s, detached %016" PRIx64 ", counters", who,
                r.root.value, r.root.threw ? " thrown" : "", r.detached);
    for (std::uint64_t const c : r.counters) std::printf(" %016" PRIx64, c);
    std::printf("\n");
}

// True: as the model says.
bool run_seed(std::uint64_t seed, std::set<int> const& left_out) {
    generator g(seed, left_out);
    body const program = g.program();
    std::printf("seed %" PRIu64 " steps %d\n", seed, g.steps());
    std::fflush(stdout);
    tulle::base::rng random(~seed);
    int const workers = 1 + static_cast<int>(random.below(4));
    tulle::set_option("shepherds", random.below(3) == 0 && workers > 1 ? "2" : "1");
    tulle::initialize({.workers = workers});
    player p;
    result const got = p.run(program);
    tulle::finalize();
    result const expected = model().run(program);
    if (got == expected) return true;
    std::printf("DIFFERS with %d workers\n", workers);
    print("expected", expected);
    print("got     ", got);
    return false;
}

} // namespace

int main(int argc, char** argv) { return soak::run_programs(argc, argv, &run_seed); }
