// SPDX-License-Identifier: Apache-2.0
// global-sort: n random numbers in global memory, by a parallel merge sort with threads that any
// place of the host may run: quarters are sorted, and merged two by two, where a merge divides at
// the middle of its larger half. Figure: s.
// Source: cilksort of Cilk-5 (Frigo, Leiserson, Randall, PLDI 1998).
#include "../common/places.hpp"

#include <tulle/global_fork.hpp>
#include <tulle/global_memory.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace tulle::bench {
namespace {

using number = std::uint32_t;
using numbers = tulle::global_ptr<number>;

constexpr long k_sorted_alone = 4096;
constexpr long k_merged_alone = 8192;

struct sequence {
    numbers first;
    long size;
    [[nodiscard]] sequence part(long begin, long end) const { return {first + begin, end - begin}; }
    [[nodiscard]] number* begin() const { return first.local(); }
    [[nodiscard]] number* end() const { return begin() + size; }
};

void merge(sequence a, sequence b, numbers to) {
    if (a.size < b.size) std::swap(a, b);
    if (a.size + b.size <= k_merged_alone) {
        std::merge(a.begin(), a.end(), b.begin(), b.end(), to.local());
        return;
    }
    long const in_a = a.size / 2;
    long const in_b = std::lower_bound(b.begin(), b.end(), a.begin()[in_a]) - b.begin();
    auto upper =
        tulle::global_fork<&merge>(a.part(in_a, a.size), b.part(in_b, b.size), to + (in_a + in_b));
    merge(a.part(0, in_a), b.part(0, in_b), to);
    upper.join();
}

// In place; `room` is as large.
void sort(sequence all, numbers room) {
    if (all.size <= k_sorted_alone) return std::sort(all.begin(), all.end());
    long const quarter = all.size / 4;
    sequence const a = all.part(0, quarter), b = all.part(quarter, 2 * quarter);
    sequence const c = all.part(2 * quarter, 3 * quarter), d = all.part(3 * quarter, all.size);
    {
        auto first = tulle::global_fork<&sort>(a, room);
        auto second = tulle::global_fork<&sort>(b, room + quarter);
        auto third = tulle::global_fork<&sort>(c, room + 2 * quarter);
        sort(d, room + 3 * quarter);
        third.join();
        second.join();
        first.join();
    }
    auto lower = tulle::global_fork<&merge>(a, b, room);
    merge(c, d, room + 2 * quarter);
    lower.join();
    merge({room, 2 * quarter}, {room + 2 * quarter, all.size - 2 * quarter}, all.first);
}

int run(int argc, char** argv) {
    settings const s = parse(argc, argv, {1'000'000, 100'000});
    tulle_places library(s);
    std::vector<number> input(static_cast<std::size_t>(s.n));
    std::mt19937 random(1);
    std::generate(input.begin(), input.end(), random);
    auto const sum = std::accumulate(input.begin(), input.end(), std::uint64_t{0});
    auto const data = tulle::allocate_global<number>(input.size());
    auto const room = tulle::allocate_global<number>(input.size());
    figure elapsed{"s"};
    for (int i = -1; i < s.runs; ++i) { // run -1 warms up
        tulle::write(std::span<number const>(input), data);
        double time = 0;
        library.run([&] { time = time_of([&] { sort({data, s.n}, room); }); });
        sequence const all{data, s.n};
        bool const right = std::is_sorted(all.begin(), all.end()) &&
                           std::accumulate(all.begin(), all.end(), std::uint64_t{0}) == sum;
        if (i >= 0) elapsed.add(time, right);
    }
    tulle::free_global(room);
    tulle::free_global(data);
    return print_all("global-sort", "tulle", s, {elapsed});
}

} // namespace

benchmark const registered("global-sort", "tulle", run);

} // namespace tulle::bench
