// SPDX-License-Identifier: Apache-2.0
//
// Random programs for coherent memory, whose bytes have to be what they would be on one host. Each
// has its own number of hosts, machines and threads, its own sizes of units, logs and messages, and
// a way to keep copies alike. Hosts on machines of their own may be places, over a network.
#include "../main.hpp"
#include "coherent_places.hpp"

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace {

using namespace tulle::dsm;
using namespace tulle::dsm::random_programs;
using tulle::base::rng;

template <class T, std::size_t N> T one_of(rng& random, T const (&all)[N]) {
    return all[random.below(N)];
}

enum class logs { of_16, of_128, of_4096 };

shape random_shape(rng& random) {
    shape s{2 + random.below(5), one_of(random, {64U, 128U, 256U, 1024U, 4096U})};
    if (random.below(2) == 0) s.hosts = 2;
    s.machines = 1 + random.below(3);
    if (s.machines > s.hosts) s.machines = s.hosts;
    s.most_bytes = one_of(random, {168U, 512U, 4096U, 32640U});
    if (random.below(3) == 0) s.outdated = outdated_copies::are_refreshed;
    s.threads = s.hosts > 3 ? 1 : one_of(random, {1U, 1U, 2U, 3U});
    s.has_all_sizes = random.below(3) == 0;
    return s;
}

struct world {
    explicit world(rng random)
        : memory(random_shape(random)), lengths(static_cast<logs>(random.below(3))) {
        is_over_places = random.below(2) == 0 && may_be_places(memory);
        network.seed = random.below(5) == 0 ? 0 : random.next();
        network.most_delay = one_of(random, {1U, 8U, 100U});
        network.most_waiting = one_of(random, {0U, 0U, 1U, 3U, 30U});
        network.most_bytes = one_of(random, {512U, 600U, 4096U});
        refused = {.seed = random.next(), .sends = one_of(random, {0U, 5U, 40U})};
        seed = random.next();
    }
    void print() const {
        constexpr int k_entries[] = {16, 128, 4096};
        std::printf("  %u hosts of %u threads on %u machines, units of %" PRIu64
                    " bytes%s, copies are %s, logs of %d, requests of %zu bytes\n",
                    memory.hosts, memory.threads, memory.machines, memory.unit_bytes,
                    memory.has_all_sizes ? " and of all other sizes" : "",
                    memory.outdated == outdated_copies::are_dropped ? "dropped" : "refreshed",
                    k_entries[static_cast<int>(lengths)], memory.most_bytes);
        if (is_over_places)
            std::printf("  places; network: seed %" PRIu64
                        ", delay %u, room %zu, bytes %zu; refused: %u of a hundred, seed %" PRIu64
                        "\n",
                        network.seed, network.most_delay, network.most_waiting, network.most_bytes,
                        refused.sends, refused.seed);
    }
    shape memory;
    logs lengths;
    bool is_over_places;
    tulle::net::loopback_options network;
    refusals refused;
    std::uint64_t seed;
};

template <std::size_t Notices, std::size_t Fetches>
std::size_t errors_of(plan const& made, world const& w) {
    if (!w.is_over_places) return run_program<Notices, Fetches>(w.memory, made, w.seed);
    tulle::initialize({.workers = 2});
    std::size_t errors = 0;
    {
        loopback_places places(static_cast<int>(w.memory.hosts), w.network, {.refused = w.refused});
        errors = run_program_over<Notices, Fetches>(places, w.memory, made, w.seed);
    }
    tulle::finalize();
    return errors;
}

std::size_t errors_of(plan const& made, world const& w) {
    switch (w.lengths) {
        case logs::of_16: return errors_of<16, 16>(made, w);
        case logs::of_128: return errors_of<128, 32>(made, w);
        case logs::of_4096: return errors_of<4096, 1024>(made, w);
    }
    return 1;
}

// True: each byte is what it would be on one host.
bool run_seed(std::uint64_t seed, std::set<int> const& left_out) {
    world const w{rng(~seed)};
    rng random(seed);
    plan made = random_plan(random, w.memory.all_threads());
    made.left_out = left_out;
    std::printf("seed %" PRIu64 " steps %d\n", seed, made.steps());
    std::fflush(stdout);
    std::size_t const errors = errors_of(made, w);
    if (errors == 0) return true;
    std::printf("DIFFERS: %zu mistakes\n", errors);
    w.print();
    return false;
}

} // namespace

int main(int argc, char** argv) { return soak::run_programs(argc, argv, &run_seed); }
