// SPDX-License-Identifier: Apache-2.0
//
// A random program over places, drawn from a seed: as ../program.hpp, with bodies that run at
// places. A body that runs as an activity leaves its outcome in its `end`, which nobody reads
// before the finish is over: what is ordered by the finish alone shows to ThreadSanitizer if it is
// not.
#pragma once

#include "../choices.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace soak::over_places {

enum class act : std::uint8_t {
    yield,
    sleep,
    add,      // to a word of global memory
    lock,     // a counter below a global mutex
    call,     // a body at a place, its value or exception
    later,    // the same by a future, taken by a later step or at the end of the body
    take,     // one of those that are left
    finish,   // bodies as activities, the first one in the caller
    activity, // a body as one more activity of the finish around; elsewhere a call
    tree,     // finishes of many activities that do little but start others, back and forth
    memory,   // an allocation that places write and read
    words,    // producers and consumers at places with a full/empty word
    ilets,    // i-lets, signals, push and pull
    team,     // collective operations of some places
    phases,   // activities that meet by a clock
    local,    // an object at each place
    turns,    // activities of a place that wait for their turns in atomic blocks
};
inline constexpr std::uint32_t k_acts = 17;
inline constexpr std::size_t k_words = 4;   // of global memory, and counters
inline constexpr std::size_t k_mutexes = 3; // one of each mode

struct step;
struct body {
    std::vector<step> steps;
    bool throws = false; // at its end, with its value
    std::uint64_t number = 0;
    mutable outcome end; // as an activity
};
struct step : choices {
    act what = act::yield;
    std::vector<body> children;

    // Where its k-th body runs.
    [[nodiscard]] int place(std::uint64_t k, int places) const {
        return static_cast<int>(draw(1000 + k, static_cast<std::uint64_t>(places)));
    }
};

class generator {
public:
    generator(std::uint64_t seed, std::set<int> const& left_out)
        : m_random(seed), m_left_out(left_out) {}

    [[nodiscard]] body program() { return draw_body(k_deepest, false); }
    [[nodiscard]] int steps() const { return m_count; } // drawn so far, those left out included

private:
    static constexpr int k_deepest = 5;
    static constexpr int k_most_steps = 100; // of a whole program; after that nothing has children
    static constexpr std::uint32_t k_longest_body = 6;
    static constexpr std::uint32_t k_more_at_root = 5;

    // `governed`: by a finish.
    body draw_body(int depth, bool governed) {
        body b;
        std::uint32_t const length =
            (depth == k_deepest ? k_more_at_root : 0) + 1 + m_random.below(k_longest_body);
        for (std::uint32_t k = 0; k < length; ++k) {
            int const name = m_count++;
            step s = draw_step(depth, governed);
            if (!m_left_out.contains(name)) b.steps.push_back(std::move(s));
        }
        b.throws = depth < k_deepest && m_random.below(6) == 0;
        b.number = m_random.next();
        return b;
    }
    step draw_step(int depth, bool governed) {
        step s;
        s.what = draw_act(governed);
        s.number = m_random.next();
        std::uint32_t const children = child_count(s.what);
        if (children != 0 && (depth == 0 || m_count > k_most_steps))
            s.what = act::add;
        else
            for (std::uint32_t k = 0; k < children; ++k)
                s.children.push_back(draw_body(depth - 1, governed_by(s.what, governed)));
        return s;
    }
    // In a finish one of three is another activity of it.
    act draw_act(bool governed) {
        if (governed && m_random.below(3) == 0)
            return m_random.below(4) == 0 ? act::call : act::activity;
        auto const drawn = static_cast<act>(m_random.below(k_acts));
        return drawn == act::activity && !governed ? act::call : drawn;
    }
    static bool governed_by(act what, bool around) {
        return what == act::finish || (what != act::later && around);
    }
    std::uint32_t child_count(act what) {
        switch (what) {
            case act::call:
            case act::later:
            case act::activity: return 1;
            case act::finish: return 1 + m_random.below(5);
            default: return 0;
        }
    }

    tulle::base::rng m_random;
    std::set<int> const& m_left_out;
    int m_count = 0;
};

// --- what the model and the threads have in common -----------------------------------------------

// visit(body) for each activity that a finish waits for because of `b`, in the order of the
// program.
template <class Visit> void visit_activities_in(body const& b, Visit const& visit) {
    for (step const& s : b.steps) {
        if (s.what != act::activity && s.what != act::call) continue;
        if (s.what == act::activity) visit(s.children[0]);
        visit_activities_in(s.children[0], visit);
    }
}
template <class Visit> void visit_activities_of(step const& s, Visit const& visit) {
    for (body const& b : s.children) {
        visit(b);
        visit_activities_in(b, visit);
    }
}

// What of a finish goes into the value of its body, once all has ended.
[[nodiscard]] inline std::uint64_t settle(step const& s, std::uint64_t value) {
    visit_activities_of(s, [&value](body const& b) { value = mix(value, b.end); });
    return value;
}

// Bytes that travel with bodies: often none, sometimes more than a message holds, seldom more than
// a staging area.
using bytes = std::vector<std::uint8_t>;
[[nodiscard]] inline bytes load_of(std::uint64_t number) {
    tulle::base::rng random(number);
    constexpr std::uint32_t k_sizes[] = {0, 0, 16, 300, 700, 5000, 9000, 70'000};
    bytes all(random.below(1 + k_sizes[random.below(8)]));
    for (std::size_t at = 0; at < all.size(); at += 61)
        all[at] = static_cast<std::uint8_t>(random.next());
    return all;
}

[[nodiscard]] inline std::uint64_t phases(step const& s) { return 1 + s.draw(2, 4); }
[[nodiscard]] inline std::uint64_t objects(step const& s) {
    return 1 + s.draw(3, s.one_in(4, 4) ? 4000 : 60);
}

// The members of a team by ranks: some of the places in some order.
[[nodiscard]] inline std::vector<int> members_of(step const& s, int places) {
    std::vector<int> all;
    for (int p = 0; p < places; ++p) all.push_back(p);
    for (std::size_t k = all.size() - 1; k > 0; --k) std::swap(all[k], all[s.draw(200 + k, k + 1)]);
    all.resize(1 + s.draw(5, all.size()));
    return all;
}

// A map x -> factor * x + offset. One after the other is associative, and the order matters.
struct affine {
    std::uint64_t factor = 1, offset = 0;
    [[nodiscard]] std::uint64_t hash() const { return mix(factor, offset); }
    friend affine operator*(affine const& a, affine const& b) {
        return {a.factor * b.factor, a.offset * b.factor + b.offset};
    }
};
[[nodiscard]] inline affine affine_of(step const& s, std::uint64_t who, std::uint64_t phase) {
    return {share(s, who, phase) | 1U, share(s, who, phase + 32)};
}

// A node of an act::tree: a chain that goes to and fro, with a few branches.
struct node {
    std::uint64_t seed = 0;
    std::uint64_t left = 0; // to the end of the chain
    [[nodiscard]] std::uint64_t value() const { return mix(seed, left); }
    [[nodiscard]] std::uint64_t children() const { return left == 0 ? 0 : seed % 6 == 0 ? 2 : 1; }
    [[nodiscard]] node child(std::uint64_t k) const { return {mix(seed, k + 7), left - 1}; }
};
[[nodiscard]] inline node root_of(step const& s, std::uint64_t who) {
    return {mix(s.number, who), 2 + s.draw(50 + who, 16)};
}

// What a whole program leaves behind.
struct result {
    outcome root;
    std::uint64_t words[k_words] = {};    // of global memory
    std::uint64_t counters[k_words] = {}; // below the mutexes
    std::uint64_t wrong = 0;              // what was noticed on the way

    friend bool operator==(result const& a, result const& b) {
        return a.root.value == b.root.value && a.root.threw == b.root.threw &&
               std::equal(a.words, a.words + k_words, b.words) &&
               std::equal(a.counters, a.counters + k_words, b.counters) && a.wrong == b.wrong;
    }
};

} // namespace soak::over_places
