// SPDX-License-Identifier: Apache-2.0
// Input for the loops over arrays: doubles that are the same for every library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tulle::bench {

// Uniform in [0, 1); the splitmix64 sequence.
inline double number(std::uint64_t i) {
    std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
}
inline std::vector<double> numbers(long n) {
    std::vector<double> v(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = number(i);
    return v;
}

} // namespace tulle::bench
