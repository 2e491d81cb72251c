// SPDX-License-Identifier: Apache-2.0
// A small random generator for victim choice and back-off: SplitMix64 (Steele, Lea, Flood: "Fast
// splittable pseudorandom number generators", OOPSLA 2014, doi:10.1145/2660193.2660195), and what
// hashes of a few words are made with. Not for cryptography. A generator is not thread-safe; each
// worker has one.
#pragma once

#include <cstdint>

namespace tulle::base {

// 2^64 divided by the golden ratio: multiples of it are spread evenly, in their high bits most.
inline constexpr std::uint64_t k_golden_ratio = 0x9E3779B97F4A7C15U;

// Takes a word into a hash, so that different words give different hashes then.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) noexcept {
    hash = (hash ^ word) * k_golden_ratio;
    return hash ^ (hash >> 29U);
}

class rng {
public:
    // Equal seeds give equal sequences; 0 is as good as any other seed.
    explicit rng(std::uint64_t seed) noexcept : m_state(seed) {}

    [[nodiscard]] std::uint64_t next() noexcept {
        m_state += k_golden_ratio;
        std::uint64_t mixed = m_state;
        mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
        return mixed ^ (mixed >> 31U);
    }

    // A number in [0, n); 0 for n == 0. By multiplication: biased by less than n / 2^32, without a
    // division.
    [[nodiscard]] std::uint32_t below(std::uint32_t n) noexcept {
        return static_cast<std::uint32_t>(((next() >> 32U) * n) >> 32U);
    }

private:
    std::uint64_t m_state;
};

} // namespace tulle::base
