// SPDX-License-Identifier: Apache-2.0
#include "bench/overhead.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace tulle::tool {

namespace {

constexpr std::string_view k_base = "checked_none";
constexpr std::string_view k_times = "ms, ";

bool is_time_with_checks(figure const& f) {
    return f.library.starts_with("checked_") && f.unit.starts_with(k_times) && f.measured() &&
           f.ok && f.min > 0;
}

std::string level_of(figure const& f) { return f.unit.substr(f.unit.rfind(' ') + 1); }

figure const* without_checks(std::vector<figure> const& figures, figure const& f) {
    auto const found = std::find_if(figures.begin(), figures.end(), [&f](figure const& other) {
        return is_time_with_checks(other) && other.library == k_base && other.bench == f.bench &&
               other.unit == f.unit && other.workers == f.workers;
    });
    return found == figures.end() ? nullptr : &*found;
}

// What it must not exceed in optimized programs; 0: nothing is said. Programs as short as a test
// (an `n` of 0) end before their slow paths are outweighed.
double limit_of(figure const& with_checks, std::string const& level, std::string_view which) {
    std::string const& library = with_checks.library;
    if (level != "-O2" || with_checks.n == 0) return 0;
    if (library == "checked_all")
        return which == "geometric mean" ? 1.10 : which == "worst" ? 1.15 : 0;
    return library == "checked_stores" && which == "geometric mean" ? 1.05 : 0;
}

class overhead {
public:
    void add(figure const& with, figure const& without) {
        m_ratios.push_back(with.min / without.min);
        m_like = with;
    }

    void report(std::vector<figure>& to) const {
        auto const count = static_cast<double>(m_ratios.size());
        double logarithms = 0;
        for (double const ratio : m_ratios) logarithms += std::log(ratio);
        to.push_back(made("geometric mean", std::exp(logarithms / count)));
        to.push_back(made("mean", std::accumulate(m_ratios.begin(), m_ratios.end(), 0.0) / count));
        to.push_back(made("worst", *std::max_element(m_ratios.begin(), m_ratios.end())));
    }

private:
    [[nodiscard]] figure made(std::string const& which, double value) const {
        figure f;
        f.bench = m_like.bench;
        f.library = m_like.library;
        f.workers = m_like.workers;
        f.places = m_like.places;
        f.n = static_cast<long>(m_ratios.size());
        f.values = {value};
        f.min = f.max = value;
        f.unit = "x, " + which + ' ' + level_of(m_like);
        f.runs = m_like.runs;
        f.limit = limit_of(m_like, level_of(m_like), which);
        return f;
    }

    std::vector<double> m_ratios{}; // of each program
    figure m_like{};                // one of those with checks
};

} // namespace

std::vector<figure> overheads_of_checks(std::vector<figure> const& figures) {
    std::map<std::tuple<std::string, int, std::string>, overhead> all;
    for (figure const& f : figures) {
        if (!is_time_with_checks(f) || f.library == k_base) continue;
        if (figure const* const base = without_checks(figures, f))
            all[{level_of(f), f.workers, f.library}].add(f, *base);
    }
    std::vector<figure> made;
    for (auto const& [key, of_kind] : all) of_kind.report(made);
    return made;
}

} // namespace tulle::tool
