// SPDX-License-Identifier: Apache-2.0
//
// Random programs over places and on the sequential model. Each has its own number of places and
// workers, and its own network: messages that overtake each other, room for few of them, small
// messages, staging, memory that cannot be read, and refusals of all of these in between.
#include "../main.hpp"
#include "loopback_places.hpp"
#include "model.hpp"
#include "player.hpp"

#include <cinttypes>
#include <cstdio>

namespace {

using namespace soak::over_places;
using tulle::base::rng;

template <class T, std::size_t N> T one_of(rng& random, T const (&all)[N]) {
    return all[random.below(N)];
}

struct world {
    explicit world(rng random) {
        places = 1 + static_cast<int>(random.below(7));
        workers = 1 + static_cast<int>(random.below(4));
        network.seed = random.below(5) == 0 ? 0 : random.next();
        network.most_delay = one_of(random, {1U, 8U, 100U});
        network.most_waiting = one_of(random, {0U, 0U, 1U, 3U, 30U});
        network.most_bytes = one_of(random, {512U, 600U, 4096U});
        network.staging_bytes = one_of(random, {0U, 0U, 8192U, 65536U});
        network.allows_read = random.below(3) != 0;
        network.shares_segments = random.below(2) != 0;
        memory.group = random.below(4);
        memory.algorithm = static_cast<tulle::gmem::algorithm>(random.below(4));
        if (random.below(2) == 0)
            refused = {random.next(), one_of(random, {0U, 5U, 40U}), one_of(random, {0U, 50U}),
                       one_of(random, {0U, 50U})};
    }
    void print() const {
        std::printf(
            "  %d places, %d workers; network: seed %" PRIu64
            ", delay %u, room %zu, bytes %zu, read %d, staging %zu, segments %d; "
            "memory: groups of %u, algorithm %d; refused: %u %u %u of a hundred, seed %" PRIu64
            "\n",
            places, workers, network.seed, network.most_delay, network.most_waiting,
            network.most_bytes, network.allows_read ? 1 : 0, network.staging_bytes,
            network.shares_segments ? 1 : 0, memory.group, static_cast<int>(memory.algorithm),
            refused.sends, refused.reads, refused.stages, refused.seed);
    }
    int places, workers;
    tulle::net::loopback_options network;
    tulle::gmem_access::memory_settings memory;
    refusals refused;
};

void print(char const* who, result const& r) {
    std::printf("  %s: value %016" PRIx64 "%s, wrong %" PRIu64 ", words", who, r.root.value,
                r.root.threw ? " thrown" : "", r.wrong);
    for (std::uint64_t const w : r.words) std::printf(" %016" PRIx64, w);
    std::printf(", counters");
    for (std::uint64_t const c : r.counters) std::printf(" %016" PRIx64, c);
    std::printf("\n");
}

result play(body const& program, world const& w) {
    loopback_places const all(w.places, w.network, {.memory = w.memory, .refused = w.refused});
    player p(w.places);
    return p.run(program);
}

// True: as the model says.
bool run_seed(std::uint64_t seed, std::set<int> const& left_out) {
    generator g(seed, left_out);
    body const program = g.program();
    std::printf("seed %" PRIu64 " steps %d\n", seed, g.steps());
    std::fflush(stdout);
    world const w{rng(~seed)};
    tulle::initialize({.workers = w.workers});
    result const got = play(program, w);
    tulle::finalize();
    result const expected = model(w.places).run(program);
    if (got == expected) return true;
    std::printf("DIFFERS\n");
    w.print();
    print("expected", expected);
    print("got     ", got);
    return false;
}

} // namespace

int main(int argc, char** argv) { return soak::run_programs(argc, argv, &run_seed); }
