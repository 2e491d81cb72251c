// SPDX-License-Identifier: Apache-2.0
//
// What a thread knows: per location the newest store it must not read behind (views, as in the
// operational models of C11: Kang, Hur, Lahav, Vafeiadis, Dreyer, doi:10.1145/3009837.3009850), and
// per thread the newest event that happens before now (vector clocks). Fixed arrays: a join is a
// handful of vector instructions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tulle::model {

using thread_index = std::uint8_t;
using location_index = std::uint8_t;
using stamp = std::uint16_t; // position of a store in its location's modification order
using tick = std::uint16_t;  // number of an event of one thread

// thread 0 sets up and checks, so seven run concurrently
inline constexpr std::size_t k_max_threads = 8;
inline constexpr std::size_t k_max_locations = 152;

template <class Array> void join_arrays(Array& into, Array const& from) noexcept {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
}

struct event {
    thread_index thread = 0;
    tick when = 0;
};

struct vector_clock {
    std::array<tick, k_max_threads> newest{};

    void join(vector_clock const& other) noexcept { join_arrays(newest, other.newest); }
    [[nodiscard]] bool covers(event e) const noexcept { return newest[e.thread] >= e.when; }
    [[nodiscard]] bool covers(vector_clock const& other) const noexcept {
        for (std::size_t i = 0; i < newest.size(); ++i) {
            if (newest[i] < other.newest[i]) return false;
        }
        return true;
    }
};

struct view {
    std::array<stamp, k_max_locations> seen{};
    vector_clock happened;

    void join(view const& other) noexcept {
        join_arrays(seen, other.seen);
        happened.join(other.happened);
    }
};

} // namespace tulle::model
