// SPDX-License-Identifier: Apache-2.0
//
// Counts primes. All places take blocks of numbers from one counter in global memory, so that a
// faster place does more, and write what they find into an array that is spread over them.
#include "common/places.hpp"
#include "common/program.hpp"

#include <cmath>
#include <cstdio>

namespace {

using namespace examples;

constexpr std::uint64_t k_block = 1U << 15U; // numbers, so that a sieve fits into a near cache

struct job {
    std::uint64_t below;
    tulle::global_ptr<std::uint64_t> next; // block that nobody has taken yet
};

std::uint64_t blocks_of(std::uint64_t below) { return (below + k_block - 1) / k_block; }

// In one piece.
std::vector<std::uint64_t> primes_below(std::uint64_t end) {
    std::vector<bool> composite(end);
    std::vector<std::uint64_t> found;
    for (std::uint64_t p = 2; p < end; ++p) {
        if (composite[p]) continue;
        found.push_back(p);
        for (std::uint64_t m = p * p; m < end; m += p) composite[m] = true;
    }
    return found;
}

std::uint64_t count_block(std::uint64_t block, std::uint64_t below,
                          std::vector<std::uint64_t> const& small) {
    std::uint64_t const begin = block * k_block;
    std::uint64_t const end = std::min(begin + k_block, below);
    std::vector<char> composite(end - begin);
    for (std::uint64_t number = begin; number < std::min<std::uint64_t>(end, 2); ++number)
        composite[number - begin] = 1;
    for (std::uint64_t const p : small)
        for (std::uint64_t m = std::max(p * p, (begin + p - 1) / p * p); m < end; m += p)
            composite[m - begin] = 1;
    return static_cast<std::uint64_t>(std::count(composite.begin(), composite.end(), 0));
}

// By each worker of this place.
void take_blocks(job const& j, tulle::global_array<std::uint64_t> const& counts) {
    auto const small =
        primes_below(static_cast<std::uint64_t>(std::sqrt(static_cast<double>(j.below))) + 2);
    tulle::parallel_for(0, tulle::worker_count(), [&](int) {
        for (;;) {
            std::uint64_t const block = tulle::fetch_add(j.next, 1);
            if (block >= counts.size()) return;
            counts.set(block, count_block(block, j.below, small));
        }
    });
}

bool count_primes(std::uint64_t below) {
    auto counts = tulle::global_array<std::uint64_t>::allocate(blocks_of(below), 1);
    job const j{below, tulle::allocate_global_cleared<std::uint64_t>()};
    everywhere([](job const& what,
                  tulle::global_array<std::uint64_t> const& into) { take_blocks(what, into); },
               j, counts);
    std::uint64_t sum = 0;
    for (std::size_t b = 0; b < counts.size(); ++b) sum += counts.get(b);
    std::printf("%llu primes below %llu\n", static_cast<unsigned long long>(sum),
                static_cast<unsigned long long>(below));
    tulle::free_global(j.next);
    counts.free();
    return sum == primes_below(below).size();
}

} // namespace

int main(int argc, char** argv) {
    command_line line{
        "Counts primes; places take blocks of numbers from a counter in global memory.", "primes"};
    std::uint64_t below = 20'000'000;
    line.number("n", below, "count those below it", 3, std::uint64_t{1} << 31U);
    return line.run(argc, argv, [&] {
        runtime_session const session(common_options{});
        return count_primes(below) ? k_exit_ok : k_exit_check_failed;
    });
}
