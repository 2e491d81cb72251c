// SPDX-License-Identifier: Apache-2.0
#include "compat/program/ranges.hpp"

#include <algorithm>

namespace tulle::program {

ranges joined(ranges any) {
    std::sort(any.begin(), any.end(),
              [](range const& a, range const& b) { return a.begin < b.begin; });
    ranges made;
    for (range const& r : any) {
        if (r.begin >= r.end) continue;
        if (made.empty() || made.back().end < r.begin)
            made.push_back(r);
        else
            made.back().end = std::max(made.back().end, r.end);
    }
    return made;
}

ranges without(ranges const& all, ranges const& others) {
    ranges made;
    auto next = others.begin(); // all before end below what is looked at
    for (range rest : all) {
        while (next != others.end() && next->end <= rest.begin) ++next;
        for (auto cut = next; cut != others.end() && cut->begin < rest.end; ++cut) {
            if (rest.begin < cut->begin) made.push_back({rest.begin, cut->begin});
            rest.begin = std::min(cut->end, rest.end);
        }
        if (rest.begin < rest.end) made.push_back(rest);
    }
    return made;
}

} // namespace tulle::program
