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
            case act::join: return take_outcome(s, value, left);
            case act::detach: m_result.detached += evaluate(s.children[0]).value; return value;
            case act::fork:
            case act::scope:
            case act::foreign:
                for (body const& child : s.children) value = mix(value, evaluate(child));
                return value;
            default: return mix(value, of_group(s));
        }
    }
    static std::uint64_t of_group(step const& s) {
        switch (s.what) {
            case act::team:
            case act::phases: {
                team_size const size(s);
                return sum_of_phases(s, size.members, size.phases);
            }
            case act::queue:
            case act::words:
            case act::channel: return sum_of_shares(s, queue_size(s));
            case act::once: return s.number;
            case act::loop: return sum_of_shares(s, iterations(s));
            default: return sum_of_shares(s, helpers(s));
        }
    }

    result m_result;
};

} // namespace soak
