// SPDX-License-Identifier: Apache-2.0
//
// What random programs of both kinds have in common, of threads and over places: what a step draws
// from its number, and how values are combined, by the models and by what runs alike.
#pragma once

#include "base/rng.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace soak {

// What a step is made of, besides its act and its bodies.
struct choices {
    std::uint64_t number = 0; // random bits: sizes, values, ways, places

    // A small number, different for each salt.
    [[nodiscard]] std::uint64_t draw(std::uint64_t salt, std::uint64_t below) const {
        return tulle::base::rng(number + salt * 0x51ED27U).next() % below;
    }
    [[nodiscard]] bool one_in(std::uint64_t salt, std::uint64_t chances) const {
        return draw(salt, chances) == 0;
    }
};

[[nodiscard]] inline std::uint64_t mix(std::uint64_t value, std::uint64_t more) {
    return tulle::base::rng(value ^ (more * 0x2545F4914F6CDD1DU)).next();
}

// Of a body.
struct outcome {
    std::uint64_t value = 0;
    bool threw = false;
};
[[nodiscard]] inline std::uint64_t mix(std::uint64_t value, outcome const& of_child) {
    return mix(value, of_child.value * 2 + (of_child.threw ? 1 : 0));
}

// Sizes of the steps that are made of several threads or activities.
struct queue_size {
    explicit queue_size(choices const& s)
        : producers(1 + s.draw(1, 3)), consumers(1 + s.draw(2, 3)), items(s.draw(3, 12)) {}
    [[nodiscard]] std::uint64_t taken_by(std::uint64_t consumer) const {
        std::uint64_t const all = producers * items;
        return all / consumers + (consumer < all % consumers ? 1 : 0);
    }
    std::uint64_t producers, consumers, items; // items of each producer
};
[[nodiscard]] inline std::uint64_t helpers(choices const& s) { return 1 + s.draw(1, 5); }

// The value that the k-th of a step contributes in `phase`.
[[nodiscard]] inline std::uint64_t share(choices const& s, std::uint64_t who,
                                         std::uint64_t phase = 0) {
    return mix(s.number, who * 64 + phase);
}
[[nodiscard]] inline std::uint64_t sum_of_shares(choices const& s, std::uint64_t count,
                                                 std::uint64_t phase = 0) {
    std::uint64_t total = 0;
    for (std::uint64_t who = 0; who < count; ++who) total += share(s, who, phase);
    return total;
}
// Of all items that go through a queue.
[[nodiscard]] inline std::uint64_t sum_of_shares(choices const& s, queue_size const& size) {
    std::uint64_t total = 0;
    for (std::uint64_t item = 0; item < size.items; ++item)
        total += sum_of_shares(s, size.producers, item);
    return total;
}
// The same phases by each of `members`.
[[nodiscard]] inline std::uint64_t sum_of_phases(choices const& s, std::uint64_t members,
                                                 std::uint64_t phases) {
    std::uint64_t total = 0;
    for (std::uint64_t phase = 0; phase < phases; ++phase)
        total += members * mix(sum_of_shares(s, members, phase), phase);
    return total;
}

// Which of those that were begun and are left comes next.
template <class T> [[nodiscard]] auto chosen_of(choices const& s, std::vector<T>& left) {
    return left.begin() + static_cast<std::ptrdiff_t>(s.draw(1, left.size()));
}
[[nodiscard]] inline std::uint64_t take_outcome(choices const& s, std::uint64_t value,
                                                std::vector<outcome>& left) {
    if (left.empty()) return value;
    auto const chosen = chosen_of(s, left);
    value = mix(value, *chosen);
    left.erase(chosen);
    return value;
}

} // namespace soak
