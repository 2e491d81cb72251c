// SPDX-License-Identifier: Apache-2.0
//
// Sample sort over places: samples of all decide which range of values each place gets; then all
// send each other what belongs there, and sort.
#include "common/places.hpp"
#include "common/program.hpp"

#include <cstdio>
#include <mutex>

namespace {

using namespace examples;

using values = std::vector<std::uint64_t>;

constexpr std::size_t k_samples = 64; // of each place

// This place's part.
values own;
values inbox;
tulle::mutex inbox_lock;

void fill(std::size_t n, std::uint64_t seed) {
    share const range = share_here(n);
    own.resize(range.size());
    tulle::parallel_for(std::size_t{0}, range.size(),
                        [&](std::size_t i) { own[i] = random_number(seed, range.begin + i); });
}

values take_samples() {
    tulle::parallel_sort(own.begin(), own.end());
    values samples;
    for (std::size_t k = 0; k < k_samples && !own.empty(); ++k)
        samples.push_back(own[own.size() * k / k_samples]);
    return samples;
}

// Place k gets the values from splitters[k - 1] up to, but without splitters[k].
values choose_splitters() {
    values all = joined(gather([] { return take_samples(); }));
    std::sort(all.begin(), all.end());
    auto const places = static_cast<std::size_t>(tulle::place_count());
    values splitters;
    for (std::size_t k = 1; k < places; ++k) splitters.push_back(all[all.size() * k / places]);
    return splitters;
}

void receive(values const& part) {
    std::lock_guard const held(inbox_lock);
    inbox.insert(inbox.end(), part.begin(), part.end());
}

void send(values const& splitters) {
    auto begin = own.begin();
    for (tulle::place const p : tulle::places()) {
        auto const k = static_cast<std::size_t>(p.index());
        auto const end =
            k < splitters.size() ? std::lower_bound(begin, own.end(), splitters[k]) : own.end();
        tulle::this_activity::async_at(
            p, [](values const& part) { receive(part); }, values(begin, end));
        begin = end;
    }
}

void sort_own() {
    own = std::exchange(inbox, {});
    tulle::parallel_sort(own.begin(), own.end());
}

bool sort(std::size_t n, std::uint64_t seed) {
    everywhere([](std::size_t count, std::uint64_t s) { fill(count, s); }, n, seed);
    values expected = joined(gather([] { return own; }));
    std::sort(expected.begin(), expected.end());
    everywhere([](values const& splitters) { send(splitters); }, choose_splitters());
    everywhere([] { sort_own(); });
    std::printf("%zu numbers, of which the places have", n);
    for (std::size_t const count : gather([] { return own.size(); })) std::printf(" %zu", count);
    std::printf("\n");
    return joined(gather([] { return own; })) == expected;
}

} // namespace

int main(int argc, char** argv) {
    command_line line{"Sorts random numbers that are spread over the places.", "global_sort"};
    std::size_t n = 4'000'000;
    std::uint64_t seed = 1;
    line.number("n", n, "how many", 1, std::size_t{1} << 36U);
    line.number("--seed", seed, "seed of the random numbers");
    return line.run(argc, argv, [&] {
        runtime_session const session(common_options{});
        return sort(n, seed) ? k_exit_ok : k_exit_check_failed;
    });
}
