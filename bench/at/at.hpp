// SPDX-License-Identifier: Apache-2.0
// at: what it takes to have something done at another place. Times in ns of
//   call             there and back, nothing carried
//   activity         one of n that are started there, until all have ended
//   continue         until the thread that has started one goes on
//   statement SIZE   SIZE bytes are carried there
//   expression SIZE  SIZE bytes are carried there, and as many back
// Sizes and terms as in Mohr and others: "Cutting out the middleman: OS-level support for X10
// activities" (2015), tables 1 and 2, and larger ones.
#pragma once

#include "../common/harness.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace tulle::bench {

inline constexpr std::array<std::size_t, 14> k_payload_sizes{
    16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536, 262144, 1048576};

// In a quick run powers of four only.
inline std::vector<std::size_t> payload_sizes(settings const& s) {
    std::vector<std::size_t> all(k_payload_sizes.begin(), k_payload_sizes.end());
    if (s.quick)
        std::erase_if(all, [](std::size_t bytes) { return std::countr_zero(bytes) % 2 != 0; });
    return all;
}

// Fewer of the large ones.
inline long repetitions(settings const& s, std::size_t bytes) {
    return std::max(20L, s.n / (1 + static_cast<long>(bytes / 2048)));
}

// So often; in a quick run for 30 ms at most, as calls over a network may take a time slice each
// beside other programs. Returns how often.
template <class F> long repeat(settings const& s, long n, F once) {
    constexpr long k_between_looks = 4;
    auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
    for (long k = 1; k <= n; ++k) {
        once();
        if (s.quick && k % k_between_looks == 0 && std::chrono::steady_clock::now() >= end)
            return k;
    }
    return n;
}

inline figure figure_of_size(std::string const& what, std::size_t bytes) {
    return figure{"ns " + what + " " + bytes_text(bytes),
                  {what, "bytes", static_cast<double>(bytes)}};
}

// `Calls` has call(), statement(bytes) and expression(bytes), each of which returns whether it went
// right, and served(): how many call() the other place has executed so far.
template <class Calls> std::vector<figure> measure_calls(Calls calls, settings const& s) {
    std::vector<std::size_t> const payloads = payload_sizes(s);
    std::vector<figure> all{{"ns call"}};
    for (std::size_t const bytes : payloads) all.push_back(figure_of_size("statement", bytes));
    for (std::size_t const bytes : payloads) all.push_back(figure_of_size("expression", bytes));
    auto const measure = [&s](figure& into, long n, auto once) {
        bool right = true;
        auto const one = [&] { right &= once(); };
        repeat(s, n / 10, one);
        long done = 0;
        double const time = time_of([&] { done = repeat(s, n, one); });
        into.add(1e9 * time / static_cast<double>(done), right);
    };
    for (int run = 0; run < s.runs; ++run) {
        std::size_t next = 0;
        long asked = 0;
        long const served = calls.served();
        measure(all[next++], s.n, [&] {
            ++asked;
            return calls.call();
        });
        all.front().ok = all.front().ok && calls.served() - served == asked;
        for (std::size_t const bytes : payloads)
            measure(all[next++], repetitions(s, bytes), [&] { return calls.statement(bytes); });
        for (std::size_t const bytes : payloads)
            measure(all[next++], repetitions(s, bytes), [&] { return calls.expression(bytes); });
    }
    return all;
}

} // namespace tulle::bench
