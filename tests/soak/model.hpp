// SPDX-License-Identifier: Apache-2.0
//
// The sequential model: what must come out of a program, by plain function calls.
#pragma once

#include "program.hpp"

namespace soak {

class model {
public:
    [[nodiscard]] result run(body const& program) {
        m_result.root = evaluate(program);
        return m_result;
    }

private:
    outcome evaluate(body const& b) {
        std::uint64_t value = b.steps.size();
        std::vector<outcome> left; // spawned, not joined
        for (step const& s : b.steps) value = evaluate(s, value, left);
        for (outcome const& o : left) value = mix(value, o);
        return {value, b.throws};
    }
    std::uint64_t evaluate(step const& s, std::uint64_t value, std::vector<outcome>& left) {
        switch (s.what) {
            case act::yield:
            case act::sleep: return value;
            case act::add: m_result.counters[s.draw(1, k_counters)] += s.number; return value;
            case act::spawn: left.push_back(evaluate(s.children[0])); return value;
            case act::join: return join(s, value, left);
            case act::detach: m_result.detached += evaluate(s.children[0]).value; return value;
            case act::fork:
            case act::scope:
            case act::foreign:
                for (body const& child : s.children) value = mix(value, evaluate(child));
                return value;
            default: return mix(value, of_group(s));
        }
    }
    static std::uint64_t join(step const& s, std::uint64_t value, std::vector<outcome>& left) {
        if (left.empty()) return value;
        auto const chosen = left.begin() + static_cast<std::ptrdiff_t>(s.draw(1, left.size()));
        value = mix(value, *chosen);
        left.erase(chosen);
        return value;
    }
    static std::uint64_t of_group(step const& s) {
        switch (s.what) {
            case act::team:
            case act::phases: return of_team(s);
            case act::queue:
            case act::words:
            case act::channel: return of_queue(s);
            case act::once: return s.number;
            case act::loop: return sum(s, iterations(s), 0);
            default: return sum(s, helpers(s), 0); // by helpers
        }
    }
    static std::uint64_t sum(step const& s, std::uint64_t count, std::uint64_t phase) {
        std::uint64_t total = 0;
        for (std::uint64_t who = 0; who < count; ++who) total += share(s, who, phase);
        return total;
    }
    static std::uint64_t of_team(step const& s) {
        team_size const size(s);
        std::uint64_t total = 0;
        for (std::uint64_t phase = 0; phase < size.phases; ++phase)
            total += size.members * mix(sum(s, size.members, phase), phase);
        return total;
    }
    static std::uint64_t of_queue(step const& s) {
        queue_size const size(s);
        std::uint64_t total = 0;
        for (std::uint64_t item = 0; item < size.items; ++item)
            total += sum(s, size.producers, item);
        return total;
    }

    result m_result;
};

} // namespace soak
