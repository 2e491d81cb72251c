// SPDX-License-Identifier: Apache-2.0
#include "known_bytes.hpp"

#include <algorithm>
#include <iterator>

#include "tulle/coherent_abi.h"

namespace tulle::compiler {

using namespace llvm;

void known_bytes::add(origin const* base, std::int64_t first, std::int64_t last, mode how) {
    for (mode allowed : {mode::load, mode::store}) { // who may store may load
        if (allowed == mode::store && how != mode::store) continue;
        m_known[{base, allowed}].insert(first);
        m_known[{base, allowed}].insert(last);
    }
}

bool known_bytes::has(origin const* base, std::int64_t first, std::int64_t last, mode how) const {
    auto const found = m_known.find({base, how});
    if (found == m_known.end()) return false;
    std::set<std::int64_t> const& bytes = found->second;
    if (bytes.count(first) != 0 && bytes.count(last) != 0 && last - first <= TULLE_COHERENT_LINE)
        return true;
    auto const above = bytes.lower_bound(last);
    auto const below = bytes.upper_bound(first);
    return below != bytes.begin() && above != bytes.end() &&
           *above - *std::prev(below) <= TULLE_COHERENT_LINE;
}

bool known_bytes::has_all(origin const* base, std::int64_t first, std::int64_t last,
                          mode how) const {
    auto const found = m_known.find({base, how});
    if (found == m_known.end()) return false;
    auto const behind = found->second.upper_bound(first);
    if (behind == found->second.begin()) return false;
    std::int64_t at = *std::prev(behind);
    for (auto next = behind; at < last; ++next) {
        if (next == found->second.end() || *next - at > TULLE_COHERENT_LINE) return false;
        at = *next;
    }
    return true;
}

std::size_t known_bytes::count() const {
    std::size_t all = 0;
    for (auto const& [of, bytes] : m_known) all += bytes.size();
    return all;
}

void known_bytes::keep_common(known_bytes const& other) {
    for (auto it = m_known.begin(); it != m_known.end();) {
        std::set<std::int64_t> both;
        if (auto const found = other.m_known.find(it->first); found != other.m_known.end())
            std::set_intersection(it->second.begin(), it->second.end(), found->second.begin(),
                                  found->second.end(), std::inserter(both, both.end()));
        it->second = std::move(both);
        it = it->second.empty() ? m_known.erase(it) : std::next(it);
    }
}

void known_bytes::forget_values_of(BasicBlock const& block) {
    for (auto it = m_known.begin(); it != m_known.end();)
        it = it->first.first->is_made_in(block) ? m_known.erase(it) : std::next(it);
}

} // namespace tulle::compiler
