// SPDX-License-Identifier: Apache-2.0
//
// The sequential model of programs over places: what must come out, by plain function calls.
#pragma once

#include "program.hpp"

namespace soak::over_places {

class model {
public:
    explicit model(int places) : m_places(places) {}

    [[nodiscard]] result run(body const& program) {
        m_result.root = evaluate(program);
        return m_result;
    }

private:
    outcome evaluate(body const& b) {
        std::uint64_t value = b.steps.size();
        std::vector<outcome> left; // begun, not taken
        for (step const& s : b.steps) value = evaluate(s, value, left);
        for (outcome const& o : left) value = mix(value, o);
        return {value, b.throws};
    }
    std::uint64_t evaluate(step const& s, std::uint64_t value, std::vector<outcome>& left) {
        switch (s.what) {
            case act::yield:
            case act::sleep: return value;
            case act::add: m_result.words[s.draw(1, k_words)] += s.number; return value;
            case act::lock: m_result.counters[s.draw(1, k_mutexes)] += s.number; return value;
            case act::call: return mix(value, evaluate(s.children[0]));
            case act::later: left.push_back(evaluate(s.children[0])); return value;
            case act::take: return take_outcome(s, value, left);
            case act::activity: s.children[0].end = evaluate(s.children[0]); return value;
            case act::finish:
                for (body const& b : s.children) b.end = evaluate(b);
                return settle(s, value);
            default: return mix(value, of_group(s));
        }
    }
    [[nodiscard]] std::uint64_t of_group(step const& s) const {
        switch (s.what) {
            case act::memory: return of_memory(s);
            case act::words: return sum_of_shares(s, queue_size(s));
            case act::tree: return of_trees(s);
            case act::ilets: return sum_of_shares(s, helpers(s)) + objects(s);
            case act::team: return of_team(s);
            case act::phases: return sum_of_phases(s, helpers(s), phases(s));
            case act::local:
                return sum_of_shares(s, helpers(s)) +
                       static_cast<std::uint64_t>(m_places) * s.number;
            default: return of_turns(s);
        }
    }
    static std::uint64_t of_memory(step const& s) {
        std::uint64_t value = 0;
        for (std::uint64_t k = 0; k < objects(s); ++k) value = mix(value, share(s, k) + helpers(s));
        return value;
    }
    static std::uint64_t of_trees(step const& s) {
        std::uint64_t total = 0;
        for (std::uint64_t who = 0; who < helpers(s); ++who) total += of_tree(root_of(s, who));
        return total;
    }
    static std::uint64_t of_tree(node n) {
        std::uint64_t total = n.value();
        for (std::uint64_t k = 0; k < n.children(); ++k) total += of_tree(n.child(k));
        return total;
    }
    static std::uint64_t of_turns(step const& s) {
        std::uint64_t value = 0;
        for (std::uint64_t who = 0; who < helpers(s); ++who) value = mix(value, share(s, who));
        return value;
    }

    // --- collective operations, see play_round in groups.cpp -------------------------------------

    [[nodiscard]] std::uint64_t of_team(step const& s) const {
        std::uint64_t const size = members_of(s, m_places).size();
        std::uint64_t total = 0;
        for (std::uint64_t round = 0; round < phases(s); ++round) total += of_round(s, size, round);
        return total;
    }
    static std::uint64_t of_round(step const& s, std::uint64_t size, std::uint64_t round) {
        switch (s.draw(20 + round, 7)) {
            case 0: return size * sum_of_shares(s, size, round);
            case 1: return size * mix(share(s, root(s, size, round), round), 1);
            case 2: return size * product(s, size, round).hash();
            case 3: return product(s, size, round).hash();
            case 4: return size * in_order(s, size, round);
            case 5: return sum_of_shares(s, size, round); // of a scatter: each has its own
            default: return exchanged(s, size, round);
        }
    }
    static std::uint64_t root(step const& s, std::uint64_t size, std::uint64_t round) {
        return s.draw(40 + round, size);
    }
    static affine product(step const& s, std::uint64_t size, std::uint64_t round) {
        affine all;
        for (std::uint64_t who = 0; who < size; ++who) all = all * affine_of(s, who, round);
        return all;
    }
    static std::uint64_t in_order(step const& s, std::uint64_t size, std::uint64_t round) {
        std::uint64_t value = 0;
        for (std::uint64_t who = 0; who < size; ++who) value = mix(value, share(s, who, round));
        return value;
    }
    // `to` gets of `from` what belongs to both.
    static std::uint64_t exchanged(step const& s, std::uint64_t size, std::uint64_t round) {
        std::uint64_t total = 0;
        for (std::uint64_t to = 0; to < size; ++to) {
            std::uint64_t value = 0;
            for (std::uint64_t from = 0; from < size; ++from)
                value = mix(value, share(s, from * size + to, round));
            total += value;
        }
        return total;
    }

    int m_places;
    result m_result;
};

} // namespace soak::over_places
