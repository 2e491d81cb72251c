// SPDX-License-Identifier: Apache-2.0
//
// A small random generator for victim choice and back-off: SplitMix64 (Steele, Lea, Flood: "Fast
// splittable pseudorandom number generators", OOPSLA 2014, doi:10.1145/2660193.2660195). Not for
// cryptography. Not thread-safe: one per worker.
#pragma once

#include <cstdint>

namespace tulle::base {

class rng {
public:
    /// Equal seeds give equal sequences; 0 is as good as any other seed.
    explicit rng(std::uint64_t seed) noexcept : m_state(seed) {}

    [[nodiscard]] std::uint64_t next() noexcept {
        m_state += 0x9E3779B97F4A7C15U;
        std::uint64_t mixed = m_state;
        mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
        return mixed ^ (mixed >> 31U);
    }

    /// A number in [0, n); 0 for n == 0. By multiplication: biased by less than n / 2^32, without a
    /// division.
    [[nodiscard]] std::uint32_t below(std::uint32_t n) noexcept {
        return static_cast<std::uint32_t>(((next() >> 32U) * n) >> 32U);
    }

private:
    std::uint64_t m_state;
};

} // namespace tulle::base
