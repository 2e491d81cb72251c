// SPDX-License-Identifier: Apache-2.0
// remote-create with TNT: one thread creates n threads, by each way to choose their nodes, and
// joins all; ns for each. The threads count.
// Figure 5 of Ye and others, "TiNy Threads on BlueGene/P" (2009).
#include "../common/places.hpp"

#include <tnt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tulle::bench {
namespace {

struct placement {
    int policy;
    char const* name; // of its curve; empty: as that of activities
};
constexpr std::array k_placements{
    placement{TNT_ROUND_ROBIN, ""}, placement{TNT_RANDOM, "at random"},
    placement{TNT_LEAST_LOADED, "least loaded"}, placement{TNT_TWO_CHOICES, "less loaded of two"}};

void* count_one(void* count) {
    tulle::fetch_add(tulle::global_ptr<long>::at(reinterpret_cast<std::uintptr_t>(count)), 1L);
    return nullptr;
}

// `count` is in shared memory.
bool create_all(std::vector<tnt_t>& threads, long* count) {
    long before = 0;
    bool right = tnt_read(&before, count, sizeof before) == 0;
    for (tnt_t& thread : threads) right &= tnt_create(&thread, &count_one, count) == 0;
    for (tnt_t const thread : threads) right &= tnt_join(thread, nullptr) == 0;
    long after = 0;
    return tnt_read(&after, count, sizeof after) == 0 && right &&
           after - before == static_cast<long>(threads.size());
}

figure measure(placement const& how, long n, long* count, settings const& s) {
    std::string const name = how.name;
    figure cost{"ns/thread of " + std::to_string(n) + (name.empty() ? "" : ", " + name),
                {name, "threads", static_cast<double>(n)}};
    std::vector<tnt_t> threads(static_cast<std::size_t>(n));
    long const times = std::max(1L, s.n / 10 / n);
    bool right = tnt_set_placement(how.policy) == 0 && create_all(threads, count);
    for (int run = 0; run < s.runs; ++run) {
        double const time = time_of([&] {
            for (long k = 0; k < times; ++k) right &= create_all(threads, count);
        });
        cost.add(1e9 * time / static_cast<double>(times * n), right);
    }
    return cost;
}

int run(int argc, char** argv) {
    settings const s = parse(argc, argv, {10'000, 1'000});
    tulle_places library(s);
    std::vector<figure> figures;
    library.run([&] {
        auto* const count = static_cast<long*>(tnt_calloc(1, sizeof(long)));
        for (placement const& how : k_placements)
            for (long n = 1; n <= s.n; n *= 10) figures.push_back(measure(how, n, count, s));
        tnt_free(count);
    });
    return print_all("remote-create", "tulle_tnt", s, figures);
}

} // namespace

benchmark const registered("remote-create", "tulle_tnt", run);

} // namespace tulle::bench
