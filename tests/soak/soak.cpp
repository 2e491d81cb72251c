// SPDX-License-Identifier: Apache-2.0
//
// soak FIRST COUNT [LEFT_OUT]: runs COUNT random programs, of the seeds from FIRST on, on Tulle and on the sequential model, each with
// its own number of workers and shepherds. Prints each seed before it runs, and what differs. LEFT_OUT: numbers of steps, separated by
// commas. Started by scripts/soak, which watches it.
#include "model.hpp"
#include "player.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace soak;

std::set<int> numbers(std::string const& text) {
    std::set<int> found;
    for (std::size_t at = 0; at < text.size(); at = text.find(',', at) == std::string::npos ? text.size() : text.find(',', at) + 1) {
        found.insert(std::atoi(text.c_str() + at));
    }
    return found;
}

void print(char const* who, result const& r) {
    std::printf("  %s: value %016" PRIx64 "%s, detached %016" PRIx64 ", counters", who, r.root.value, r.root.threw ? " thrown" : "",
                r.detached);
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

int main(int argc, char** argv) {
    if (argc < 3 || argc > 4) {
        std::fprintf(stderr, "usage: soak FIRST COUNT [LEFT_OUT]\n");
        return 2;
    }
    std::uint64_t const first = std::strtoull(argv[1], nullptr, 0);
    std::uint64_t const count = std::strtoull(argv[2], nullptr, 0);
    std::set<int> const left_out = numbers(argc > 3 ? argv[3] : "");
    for (std::uint64_t k = 0; k < count; ++k) {
        if (!run_seed(first + k, left_out)) return 1;
    }
    return 0;
}
