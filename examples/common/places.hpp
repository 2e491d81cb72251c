// SPDX-License-Identifier: Apache-2.0
//
// What the programs over places share: calls at all places, and who has which part of the data.
#pragma once

#include <tulle/tulle.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

namespace examples {

// f(arguments...) at all places at once; returns when all have ended.
template <class F, class... A> void everywhere(F f, A const&... arguments) {
    tulle::finish([&](tulle::activities& all) {
        for (tulle::place const p : tulle::places()) all.async_at(p, f, arguments...);
    });
}

// The same, and the results in the order of the places.
template <class F, class... A> auto gather(F f, A const&... arguments) {
    using result = std::invoke_result_t<F&, A...>;
    std::vector<tulle::future<result>> under_way;
    for (tulle::place const p : tulle::places())
        under_way.push_back(tulle::async_at(p, f, arguments...));
    std::vector<result> all;
    for (auto& each : under_way) all.push_back(each.get());
    return all;
}

// One after the other.
template <class T> std::vector<T> joined(std::vector<std::vector<T>> const& parts) {
    std::vector<T> all;
    for (auto const& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

struct share {
    std::size_t begin;
    std::size_t end;
    [[nodiscard]] std::size_t size() const { return end - begin; }
};

// Of n things, dealt to all places in their order; no share is larger than another by more than
// one.
inline share share_of(tulle::place p, std::size_t n) {
    auto const places = static_cast<std::size_t>(tulle::place_count());
    auto const index = static_cast<std::size_t>(p.index());
    auto const begin = [&](std::size_t k) { return n / places * k + std::min(k, n % places); };
    return {begin(index), begin(index + 1)};
}
inline share share_here(std::size_t n) { return share_of(tulle::here(), n); }

// Number i of a random sequence (SplitMix64), so that data do not depend on the number of places.
inline std::uint64_t random_number(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

} // namespace examples
