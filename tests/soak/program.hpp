// SPDX-License-Identifier: Apache-2.0
//
// A random program of threads, drawn from a seed: a tree of bodies, each a list of steps. What a
// body computes depends on its own steps and on what its children compute, never on their order in
// time, so that a sequential model (model.hpp) knows the result.
// Steps are numbered in the order in which they are drawn. A program may leave some out: that is
// how a failing one is made smaller.
#pragma once

#include "choices.hpp"

#include <cstdint>
#include <set>
#include <vector>

namespace soak {

enum class act : std::uint8_t {
    yield,
    sleep,
    add,     // to a counter under its mutex
    spawn,   // a thread, joined by a later step or at the end of the body
    join,    // one of those that are left, any of them
    fork,    // children as forked threads
    scope,   // children in a scope
    detach,  // a thread that nobody joins; the program waits for it in the end
    foreign, // an OS thread that runs its child
    team,    // threads that meet at a barrier in phases
    queue,   // producers and consumers with a mutex and two conditions
    signal,  // detached threads that end a wait for a signal
    latch,   // threads that wait for each other by a latch
    once,    // threads of which one does something
    words,   // producers and consumers with full/empty words, by address and as objects
    channel, // producers and consumers with a channel
    phases,  // threads that meet in the phases of a phased barrier
    futures, // chains of futures
    sharing, // readers and writers of a shared mutex, a few at a time by a semaphore
    limited, // a group with a limit, by any policy
    cancel,  // threads whose waits are cancelled
    loop,    // a loop by any schedule, whose iterations may wait
};
inline constexpr std::uint32_t k_acts = 22;
inline constexpr std::size_t k_counters = 4;

struct step;
struct body {
    std::vector<step> steps;
    bool throws = false; // at its end, with its value
};
struct step : choices {
    act what = act::yield;
    std::vector<body> children;
};

class generator {
public:
    generator(std::uint64_t seed, std::set<int> const& left_out)
        : m_random(seed), m_left_out(left_out) {}

    [[nodiscard]] body program() { return draw_body(k_deepest); }
    [[nodiscard]] int steps() const { return m_count; } // drawn so far, those left out included

private:
    static constexpr int k_deepest = 4;
    static constexpr int k_most_steps = 120; // of a whole program; after that nothing has children
    static constexpr std::uint32_t k_longest_body = 7;

    body draw_body(int depth) {
        body b;
        std::uint32_t const length = 1 + m_random.below(k_longest_body);
        for (std::uint32_t k = 0; k < length; ++k) {
            int const name = m_count++;
            step s = draw_step(depth);
            if (!m_left_out.contains(name)) b.steps.push_back(std::move(s));
        }
        b.throws = depth < k_deepest && m_random.below(8) == 0;
        return b;
    }
    step draw_step(int depth) {
        step s;
        s.what = static_cast<act>(m_random.below(k_acts));
        s.number = m_random.next();
        std::uint32_t const children = child_count(s.what);
        if (children != 0 && (depth == 0 || m_count > k_most_steps))
            s.what = act::add;
        else
            for (std::uint32_t k = 0; k < children; ++k) s.children.push_back(draw_body(depth - 1));
        return s;
    }
    std::uint32_t child_count(act what) {
        switch (what) {
            case act::spawn:
            case act::detach:
            case act::foreign: return 1;
            case act::fork: return 2 + m_random.below(2);
            case act::scope: return 1 + m_random.below(4);
            default: return 0;
        }
    }

    tulle::base::rng m_random;
    std::set<int> const& m_left_out;
    int m_count = 0;
};

// What a whole program leaves behind.
struct result {
    outcome root;
    std::uint64_t counters[k_counters] = {};
    std::uint64_t detached = 0; // sum of the values of detached bodies

    friend bool operator==(result const& a, result const& b) {
        for (std::size_t k = 0; k < k_counters; ++k) {
            if (a.counters[k] != b.counters[k]) return false;
        }
        return a.root.value == b.root.value && a.root.threw == b.root.threw &&
               a.detached == b.detached;
    }
};

// Sizes of the steps that are made of several threads.
struct team_size {
    explicit team_size(step const& s) : members(2 + s.draw(1, 4)), phases(1 + s.draw(2, 4)) {}
    std::uint64_t members, phases;
};
[[nodiscard]] inline std::uint64_t iterations(step const& s) { return s.draw(1, 300); }

} // namespace soak
