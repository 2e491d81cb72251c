// SPDX-License-Identifier: Apache-2.0
// What stress tests have in common: a seed that is printed and can be given, how long they run, and
// threads of both kinds.
#pragma once

#include "base/rng.hpp"
#include "both_kinds.hpp"

#include <tulle/tulle.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

inline std::uint64_t from_environment(char const* name, std::uint64_t otherwise) {
    char const* const text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

inline std::uint64_t seed() {
    static std::uint64_t const chosen = from_environment(
        "TULLE_TEST_SEED",
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
    return chosen;
}

inline void print_seed(char const* test) {
    std::printf("%s: TULLE_TEST_SEED=%llu\n", test, static_cast<unsigned long long>(seed()));
}

inline std::chrono::steady_clock::time_point end_of_run(std::uint64_t seconds) {
    return std::chrono::steady_clock::now() +
           std::chrono::seconds(from_environment("TULLE_STRESS_SECONDS", seconds));
}

inline std::chrono::microseconds brief(tulle::base::rng& r) {
    return std::chrono::microseconds(r.below(60));
}

// Runs `body(index, random)` in Tulle threads and in foreign OS threads.
template <class F> void run_mixed(int green, int foreign, F const& body) {
    run_in_both_kinds(green, foreign, [&body](int index) {
        tulle::base::rng random(seed() + static_cast<std::uint64_t>(index) * 7919);
        body(index, random);
    });
}
