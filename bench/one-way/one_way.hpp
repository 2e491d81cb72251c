// SPDX-License-Identifier: Apache-2.0
// one-way: the delay until an activity runs that is started here (async) or at another place (at
// async), until the spawner goes on, and until it has made what it waits with, waited for the end
// and destroyed it, in cycles of the time stamp counter, which the places of a machine have in
// common. One at a time: the spawner waits for the end of each before it starts the next. Of the n
// delays of a run the median; and, as the paper has it, the least of 20, of which the median of all
// twenties. And how many times as long one way to start takes as another, of the same run, in which
// they take turns: what one process after the other tells differs by more than the two ways do.
// Source: Mohr and others: "Cutting out the middleman: OS-level support for X10 activities" (2015),
// table 1 and figure 3.
#pragma once

#include "../common/cycles.hpp"
#include "../common/places.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tulle::bench {

// When the activities of this place have begun to run.
inline std::vector<std::uint64_t> s_begins; // NOLINT: of one thread at a time
inline void note_begin() { s_begins.push_back(cycles()); }

// Of one start: the clock before it, behind it, and when the spawner knows that the activity has
// ended.
struct start_times {
    std::uint64_t before = 0;
    std::uint64_t behind = 0;
    std::uint64_t end = 0;
};

struct delays {
    std::vector<double> run{};
    std::vector<double> go_on{};
    std::vector<double> whole{};
    bool right = true; // each activity has run once, between its start and its end
};

// spawner.start(place): starts note_begin there and waits for its end.
template <class Spawner> delays take_delays(Spawner spawner, int place, long n) {
    tulle::place const there(place);
    tulle::at(
        there,
        [](long count) {
            s_begins.clear();
            s_begins.reserve(static_cast<std::size_t>(count));
        },
        n);
    std::vector<start_times> starts(static_cast<std::size_t>(n));
    delays taken;
    for (start_times& s : starts) {
        std::uint64_t const outset = cycles();
        s = spawner.start(place);
        taken.whole.push_back(static_cast<double>(cycles() - outset));
    }
    auto const begins = tulle::at(there, [] { return s_begins; });
    taken.right = begins.size() == starts.size();
    for (std::size_t k = 0; taken.right && k < starts.size(); ++k) {
        auto const& [before, behind, end] = starts[k];
        taken.right = before <= begins[k] && begins[k] <= end && before <= behind;
        taken.run.push_back(static_cast<double>(begins[k] - before));
        taken.go_on.push_back(static_cast<double>(behind - before));
    }
    return taken;
}

// The median of the least of each twenty.
inline double least_of_twenty(std::vector<double> const& values) {
    constexpr std::ptrdiff_t k_runs = 20;
    std::vector<double> least;
    for (auto from = values.begin(); values.end() - from >= k_runs; from += k_runs)
        least.push_back(*std::min_element(from, from + k_runs));
    return median(least);
}

class one_way_figures {
public:
    explicit one_way_figures(std::string const& what)
        : m_all{figure("cycles, " + what + ", least"),
                figure("cycles, " + what + ", median"),
                figure("cycles, " + what + " goes on, least"),
                figure("cycles, " + what + " goes on, median"),
                figure("cycles, " + what + " and its end, least"),
                figure("cycles, " + what + " and its end, median")} {}

    void add(delays const& taken) {
        if (!taken.right) {
            for (figure& f : m_all) f.add(0, false);
            return;
        }
        m_all[0].add(least_of_twenty(taken.run), true);
        m_all[1].add(median(taken.run), true);
        m_all[2].add(least_of_twenty(taken.go_on), true);
        m_all[3].add(median(taken.go_on), true);
        m_all[4].add(least_of_twenty(taken.whole), true);
        m_all[5].add(median(taken.whole), true);
    }
    [[nodiscard]] std::vector<figure> const& all() const { return m_all; }

private:
    std::vector<figure> m_all;
};

template <class Spawner> std::vector<figure> figures_of(settings const& s) {
    std::vector<figure> figures;
    for (int const place : {0, 1}) {
        one_way_figures taken(place == 0 ? "async" : "at async");
        static_cast<void>(take_delays(Spawner(), place, 20)); // warms up
        for (int run = 0; run < s.runs; ++run) taken.add(take_delays(Spawner(), place, s.n));
        figures.insert(figures.end(), taken.all().begin(), taken.all().end());
    }
    return figures;
}

inline void append(delays& all, delays const& turn) {
    all.run.insert(all.run.end(), turn.run.begin(), turn.run.end());
    all.go_on.insert(all.go_on.end(), turn.go_on.begin(), turn.go_on.end());
    all.whole.insert(all.whole.end(), turn.whole.begin(), turn.whole.end());
    all.right = all.right && turn.right;
}

// The ratios of medians of one run.
class one_way_ratios {
public:
    one_way_ratios(std::string const& what, std::string const& below)
        : m_all{figure("times " + below + ", " + what),
                figure("times " + below + ", " + what + " goes on"),
                figure("times " + below + ", " + what + " and its end")} {}

    void add(delays const& above, delays const& below) {
        bool const right = above.right && below.right;
        auto const add_one = [&](figure& f, std::vector<double> delays::*of) {
            f.add(right ? median(above.*of) / median(below.*of) : 0, right);
        };
        add_one(m_all[0], &delays::run);
        add_one(m_all[1], &delays::go_on);
        add_one(m_all[2], &delays::whole);
    }
    [[nodiscard]] std::vector<figure> const& all() const { return m_all; }

private:
    std::vector<figure> m_all;
};

template <class Above, class Below>
std::vector<figure> ratios_of(settings const& s, std::string const& below) {
    constexpr long k_turn = 100; // so many of each, in turn
    std::vector<figure> figures;
    for (int const place : {0, 1}) {
        one_way_ratios taken(place == 0 ? "async" : "at async", below);
        for (int run = 0; run < s.runs; ++run) {
            delays first, second;
            for (long k = 0; k < s.n; k += k_turn) {
                append(first, take_delays(Above(), place, k_turn));
                append(second, take_delays(Below(), place, k_turn));
            }
            taken.add(first, second);
        }
        figures.insert(figures.end(), taken.all().begin(), taken.all().end());
    }
    return figures;
}

template <class Figures>
int one_way_main(int argc, char** argv, char const* name, Figures figures_for) {
    settings const s = parse(argc, argv, {20'000, 2'000, 20});
    tulle_places library(s);
    std::vector<figure> figures;
    library.run([&] { figures = figures_for(s); });
    return print_all("one-way", name, s, figures);
}

} // namespace tulle::bench
