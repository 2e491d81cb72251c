// SPDX-License-Identifier: Apache-2.0
//
// A histogram whose bins are spread over the places. Each place counts its share of the numbers,
// and sends every place what belongs into that one's bins.
#include "common/places.hpp"
#include "common/program.hpp"

#include <cstdio>
#include <mutex>
#include <numeric>

namespace {

using namespace examples;

using counts = std::vector<long>;

constexpr std::size_t k_block = 4096; // numbers

// This place's part of the histogram.
counts own_bins;
tulle::mutex own_lock;

struct input {
    std::size_t numbers;
    std::size_t bins;
    std::uint64_t seed;
};

// The sum of two uniform numbers: a triangle, so that bins differ.
std::size_t bin_of(std::size_t i, input const& in) {
    std::uint64_t const random = random_number(in.seed, i);
    return ((random >> 32U) % in.bins + (random & 0xffffffffU) % in.bins) / 2;
}

counts count_range(share range, input const& in) {
    counts found(in.bins);
    for (std::size_t i = range.begin; i < range.end; ++i) ++found[bin_of(i, in)];
    return found;
}

counts operator+(counts a, counts const& b) {
    std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::plus<>());
    return a;
}

// By all workers of this place.
counts count_share(input const& in) {
    share const own = share_here(in.numbers);
    auto const count_block = [&](std::size_t block) {
        std::size_t const begin = own.begin + block * k_block;
        return count_range({begin, std::min(begin + k_block, own.end)}, in);
    };
    return tulle::parallel_reduce(std::size_t{0}, (own.size() + k_block - 1) / k_block,
                                  counts(in.bins), count_block,
                                  [](counts a, counts const& b) { return std::move(a) + b; });
}

void add(counts const& part) {
    std::lock_guard const held(own_lock);
    own_bins = std::move(own_bins) + part;
}

void take_part(input const& in) {
    counts const found = count_share(in);
    for (tulle::place const p : tulle::places()) {
        share const theirs = share_of(p, in.bins);
        counts const part(found.begin() + static_cast<std::ptrdiff_t>(theirs.begin),
                          found.begin() + static_cast<std::ptrdiff_t>(theirs.end));
        tulle::this_activity::async_at(
            p, [](counts const& more) { add(more); }, part);
    }
}

bool make_histogram(input const& in) {
    everywhere([](input const& what) { own_bins.assign(share_here(what.bins).size(), 0); }, in);
    everywhere([](input const& what) { take_part(what); }, in);
    counts const all = joined(gather([] { return own_bins; }));
    std::printf("%zu numbers in %zu bins at %d places, at most %ld in one\n", in.numbers, in.bins,
                tulle::place_count(), *std::max_element(all.begin(), all.end()));
    return all == count_range({0, in.numbers}, in);
}

} // namespace

int main(int argc, char** argv) {
    command_line line{"Counts random numbers in bins that are spread over the places.",
                      "histogram"};
    input in{10'000'000, 1000, 1};
    line.number("n", in.numbers, "how many numbers", 1, std::size_t{1} << 40U);
    line.number("--bins", in.bins, "", 1, std::size_t{1} << 20U);
    line.number("--seed", in.seed, "seed of the random numbers");
    return line.run(argc, argv, [&] {
        runtime_session const session(common_options{});
        return make_histogram(in) ? k_exit_ok : k_exit_check_failed;
    });
}
