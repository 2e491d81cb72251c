// SPDX-License-Identifier: Apache-2.0
#include "contest.hpp"

#include "progress.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>

namespace examples {

namespace {

// Lets the idle threads of the library that ran before go to sleep: some of them spin for a while
// first.
constexpr std::chrono::milliseconds k_pause_between_runs{20};

struct entrant {
    contestant const* who;
    std::vector<double> seconds;
    bool ok = true;
};

std::vector<entrant> entrants_of(contest const& event, common_options const& options) {
    std::vector<entrant> entrants;
    for (contestant const& who : event.contestants)
        if (options.peers || who.kind == role::tulle) entrants.push_back({&who, {}, true});
    return entrants;
}

void run_once(contest const& event, entrant& e) {
    if (event.prepare) event.prepare();
    std::this_thread::sleep_for(k_pause_between_runs);
    e.seconds.push_back(seconds_of(e.who->run));
    e.ok = event.check() && e.ok;
}

double median(std::vector<double> values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

char const* name_of(role kind) {
    switch (kind) {
        case role::tulle: return "tulle";
        case role::serial: return "serial";
        case role::peer: return "peer";
    }
    return "unknown";
}

void print_row(figure const& f, std::FILE* out) {
    std::fprintf(out, "  %-32s %12.*f %-12s", f.library.c_str(), f.unit == "s" ? 3 : 1, f.value,
                 f.unit.c_str());
    if (f.reference > 0) std::fprintf(out, " %8.2f x tulle", f.value / f.reference);
    std::fprintf(out, "%s\n", f.ok ? "" : "  WRONG RESULT");
}

void print_table(std::string const& program, std::string const& input,
                 std::vector<figure> const& figures, bool ok, std::FILE* out) {
    std::fprintf(out, "%s, %s\n", program.c_str(), input.c_str());
    for (figure const& f : figures) print_row(f, out);
    std::fprintf(out, "  %-32s %12s\n", "check", ok ? "ok" : "FAILED");
}

} // namespace

double seconds_of(std::function<void()> const& run) {
    auto const start = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool hold_contest(contest const& event, common_options const& options) {
    auto entrants = entrants_of(event, options);
    {
        progress shown(options.progress);
        for (int i = 0; i < options.runs; ++i)
            for (entrant& e : entrants) {
                shown.begin(event.program + ", " + event.input + ": " + e.who->library + ", run " +
                            std::to_string(i + 1) + " of " + std::to_string(options.runs));
                run_once(event, e);
            }
    }
    std::vector<figure> figures;
    for (entrant const& e : entrants)
        figures.push_back({e.who->library, e.who->kind, median(e.seconds), "s", e.ok});
    if (options.peers) figures.insert(figures.end(), event.known.begin(), event.known.end());
    for (figure& f : figures)
        if (f.kind != role::tulle) f.reference = figures.front().value;
    return print_figures(event.program, event.input, figures, options.tsv);
}

bool print_figures(std::string const& program, std::string const& input,
                   std::vector<figure> const& figures, bool tsv, std::FILE* out) {
    bool const ok =
        std::all_of(figures.begin(), figures.end(), [](figure const& f) { return f.ok; });
    if (!tsv) {
        print_table(program, input, figures, ok, out);
        return ok;
    }
    for (figure const& f : figures)
        std::fprintf(out, "%s\t%s\t%s\t%s\t%.6f\t%s\t%s\n", program.c_str(), input.c_str(),
                     f.library.c_str(), name_of(f.kind), f.value, f.unit.c_str(),
                     f.ok ? "ok" : "wrong");
    return ok;
}

} // namespace examples
