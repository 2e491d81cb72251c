// SPDX-License-Identifier: Apache-2.0
// onesided: what it takes to read, write and change words of another process, which sleeps
// meanwhile. Times in ns of
//   get, put        8 bytes
//   fetch-add, cas  a word of 8 bytes
//   get SIZE        SIZE bytes are copied from there
#pragma once

#include "../common/harness.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tulle::bench {

inline constexpr std::size_t k_copied = std::size_t{1} << 16U; // bytes of get SIZE

template <class F> double ns_of_each(long n, F once) {
    return 1e9 / static_cast<double>(n) * time_of([&] {
               for (long k = 0; k < n; ++k) once(static_cast<std::uint64_t>(k));
           });
}

// `Memory` has get(), put(value), fetch_add(value), compare_exchange(expected, desired) of one
// word, and copy(to), of k_copied bytes that are all 7.
template <class Memory> std::vector<figure> measure_one_sided(Memory& there, settings const& s) {
    figure get{"ns get"}, put{"ns put"}, add{"ns fetch-add"}, cas{"ns cas"}, copy{"ns get 64 KiB"};
    std::vector<unsigned char> copied(k_copied);
    auto const n = static_cast<std::uint64_t>(s.n);
    for (int run = 0; run < s.runs; ++run) {
        std::uint64_t sum = 0;
        there.put(3);
        double time = ns_of_each(s.n, [&](std::uint64_t) { sum += there.get(); });
        get.add(time, sum == 3 * n);
        time = ns_of_each(s.n, [&](std::uint64_t k) { there.put(k); });
        put.add(time, there.get() == n - 1);
        there.put(0);
        time = ns_of_each(s.n, [&](std::uint64_t) { there.fetch_add(2); });
        add.add(time, there.get() == 2 * n);
        there.put(0);
        bool right = true;
        time = ns_of_each(s.n, [&](std::uint64_t k) { right &= there.compare_exchange(k, k + 1); });
        cas.add(time, right && there.get() == n);
        std::fill(copied.begin(), copied.end(), 0);
        time = ns_of_each(s.n / 1000 + 1, [&](std::uint64_t) { there.copy(copied.data()); });
        copy.add(time, std::count(copied.begin(), copied.end(), 7) == static_cast<long>(k_copied));
    }
    return {get, put, add, cas, copy};
}

} // namespace tulle::bench
