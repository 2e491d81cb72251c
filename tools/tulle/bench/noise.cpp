// SPDX-License-Identifier: Apache-2.0
#include "bench/noise.hpp"

#include <algorithm>
#include <fstream>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

namespace tulle::tool {

namespace {

constexpr double k_most_spread = 0.2; // of the median
constexpr double k_most_spread_of_few = 0.5;
constexpr std::size_t k_many = 5; // runs; of these neither the lowest nor the highest counts
constexpr int k_fewest = 3;       // below, nothing is known
constexpr double k_most_load = 0.5;

double seconds_of(timeval const& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double seconds_used(int who) {
    rusage used{};
    ::getrusage(who, &used);
    return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

struct range {
    double low;
    double high;
};

range range_of(figure const& f) {
    if (f.values.size() < k_many) return {f.min, f.max};
    std::vector<double> sorted = f.values;
    std::sort(sorted.begin(), sorted.end());
    return {sorted[1], sorted[sorted.size() - 2]};
}

// 1: as much as may be.
double doubt(figure const& f) {
    if (!f.measured() || f.value() <= 0 || f.runs < k_fewest) return 0;
    range const seen = range_of(f);
    double const most = f.values.size() < k_many ? k_most_spread_of_few : k_most_spread;
    return (seen.high - seen.low) / f.value() / most;
}

std::string variation_text(std::vector<figure> const& figures) {
    auto const worst =
        std::max_element(figures.begin(), figures.end(),
                         [](figure const& a, figure const& b) { return doubt(a) < doubt(b); });
    if (worst == figures.end() || doubt(*worst) <= 1) return "";
    auto const count =
        std::count_if(figures.begin(), figures.end(), [](figure const& f) { return doubt(f) > 1; });
    range const seen = range_of(*worst);
    return std::to_string(count) + " of " + std::to_string(figures.size()) + " figures " +
           (count == 1 ? "varies" : "vary") + " much from run to run, most of all " + worst->bench +
           " of " + worst->library + " with " +
           count_text(worst->workers, worst->places, worst->mpi) + " (" + short_number(seen.low) +
           " to " + short_number(seen.high) + " " + worst->unit + ")";
}

std::string load_text(double others) {
    if (others < k_most_load) return "";
    return "other programs used " + short_number(others) + " processors on average meanwhile";
}

} // namespace

load_of_others::load_of_others(std::filesystem::path times)
    : m_times(std::move(times)), m_begin(std::chrono::steady_clock::now()), m_seconds(seconds()) {}

// The first line: "cpu", then user, nice, system, idle, iowait, irq, softirq and steal, in ticks.
std::optional<double> load_of_others::seconds() const {
    std::ifstream file(m_times);
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    if (!(file >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal))
        return std::nullopt;
    double const ticks = user + nice + system + irq + softirq + steal;
    return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK)) - seconds_used(RUSAGE_SELF) -
           seconds_used(RUSAGE_CHILDREN);
}

double load_of_others::processors() const {
    auto const elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_begin);
    auto const now = seconds();
    constexpr double k_inexact = 0.1; // seconds: ticks are coarse
    if (!now || !m_seconds || elapsed.count() <= 0) return 0;
    return std::max(0.0, *now - *m_seconds - k_inexact) / elapsed.count();
}

std::string noise_text(std::vector<figure> const& figures, double others) {
    std::string const varies = variation_text(figures);
    std::string const load = load_text(others);
    if (varies.empty() && load.empty()) return "";
    return "noise: " + varies + (varies.empty() || load.empty() ? "" : "; ") + load +
           ". For figures that hold, measure on a quiet machine or with more runs (--runs)";
}

} // namespace tulle::tool
