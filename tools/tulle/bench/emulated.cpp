// SPDX-License-Identifier: Apache-2.0
#include "bench/emulated.hpp"

#include "command.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include <nlohmann/json.hpp>

namespace tulle::tool {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct candidate {
    std::string architecture;
    std::string missing; // a program; empty: ready
};

fs::path find_script(fs::path const& bench_folder) {
    fs::path script = bench_folder / "switch-counts";
    if (fs::exists(script)) return script;
    throw failure(k_exit_failed,
                  "bench: --emulated compiles sources of Tulle, and there is no link to them in " +
                      bench_folder.string() +
                      "; the program `tulle` of a build in the source tree has it");
}

std::vector<candidate> list_candidates(fs::path const& script) {
    outcome const done = capture({script, "--list", "--json"}, {20s, false, {}});
    if (!done.ok())
        throw failure(k_exit_failed, "bench: " + script.string() +
                                         " (which needs python3) failed: " + done.reason());
    std::vector<candidate> found;
    std::istringstream lines(done.output);
    for (std::string line; std::getline(lines, line);) {
        auto const object = nlohmann::json::parse(line);
        auto const& missing = object.at("missing");
        found.push_back(
            {object.at("architecture"), missing.is_null() ? "" : missing.get<std::string>()});
    }
    return found;
}

std::string complaint(candidate const& c) {
    return c.missing + " is not installed; in the source tree, `scripts/bootstrap cross " +
           c.architecture + "` installs it";
}

std::string names_of(std::vector<candidate> const& candidates) {
    std::string names;
    for (candidate const& c : candidates) names += (names.empty() ? "" : ", ") + c.architecture;
    return names;
}

candidate const& candidate_named(std::vector<candidate> const& candidates,
                                 std::string const& name) {
    auto const found = std::find_if(candidates.begin(), candidates.end(),
                                    [&name](candidate const& c) { return c.architecture == name; });
    if (found != candidates.end()) return *found;
    throw failure(k_exit_usage, "bench: there is no architecture '" + name +
                                    "' to count on; there are " + names_of(candidates));
}

void admit_wanted(emulated_plan& plan, candidate const& c) {
    if (!c.missing.empty())
        throw failure(k_exit_failed,
                      "bench: cannot count on " + c.architecture + ": " + complaint(c));
    if (std::find(plan.architectures.begin(), plan.architectures.end(), c.architecture) ==
        plan.architectures.end())
        plan.architectures.push_back(c.architecture);
}

void admit_ready(emulated_plan& plan, candidate const& c) {
    if (c.missing.empty())
        plan.architectures.push_back(c.architecture);
    else
        plan.absent.push_back(c.architecture + " is not counted: " + complaint(c));
}

void note(bench_result& result, std::string const& sentence) {
    std::fprintf(stderr, "bench: %s\n", sentence.c_str());
    result.notes.push_back(sentence);
}

} // namespace

emulated_plan plan_emulated(fs::path const& bench_folder, std::vector<std::string> const& wanted) {
    emulated_plan plan{find_script(bench_folder)};
    std::vector<candidate> const candidates = list_candidates(plan.script);
    for (std::string const& name : wanted) admit_wanted(plan, candidate_named(candidates, name));
    if (!wanted.empty()) return plan;
    for (candidate const& c : candidates) admit_ready(plan, c);
    if (!plan.architectures.empty()) return plan;
    throw failure(k_exit_failed, "bench: there is no architecture to count on: " +
                                     (candidates.empty() ? "none is known"
                                                         : candidates.front().architecture + ": " +
                                                               complaint(candidates.front())));
}

std::vector<figure> count_emulated(emulated_plan const& plan, bench_result& result) {
    for (std::string const& sentence : plan.absent) note(result, sentence);
    std::vector<figure> counted;
    std::size_t done = 0;
    for (std::string const& architecture : plan.architectures) {
        std::fprintf(stderr, "bench: counting on %s (%zu of %zu)\n", architecture.c_str(), ++done,
                     plan.architectures.size());
        outcome const run = capture({plan.script, "--json", architecture}, {300s, false, {}});
        std::vector<figure> const printed = parse_figures(run.output);
        counted.insert(counted.end(), printed.begin(), printed.end());
        if (run.ok() && !printed.empty()) continue;
        result.ok = false;
        note(result, "switch: counting on " + architecture +
                         " failed: " + (run.ok() ? "no count came out" : run.reason()));
    }
    result.figures.insert(result.figures.end(), counted.begin(), counted.end());
    return counted;
}

} // namespace tulle::tool
