// SPDX-License-Identifier: Apache-2.0
//
// Counts the lines that match a pattern in all files below some directories; the count is that of
// `grep -ra`.
#include "common/command.hpp"
#include "common/contest.hpp"
#include "common/progress.hpp"
#include "common/tree_search.hpp"

#include <numeric>

namespace {

using namespace examples;

constexpr int k_exit_no_match = 1;                          // as grep has it
constexpr std::size_t k_stack_size = std::size_t{8} << 20U; // for trees a thousand levels deep

struct grep_options {
    common_options common;
    std::string pattern;
    std::vector<std::string> roots;
    bool expression = false;
    bool compare = false;
};

std::unique_ptr<line_matcher> matcher_for(grep_options const& options) {
    return options.expression ? match_expression(options.pattern) : match_fixed(options.pattern);
}

template <class Policy>
search_totals search(grep_options const& options, line_matcher const& matcher, progress& shown,
                     bool quiet) {
    auto const advance = [&shown](std::size_t n) { shown.advance(n); };
    return tree_search<Policy, decltype(advance)>(matcher, quiet, advance).search(options.roots);
}

int count(grep_options const& options) {
    auto const matcher = matcher_for(options);
    search_totals totals;
    double const seconds = seconds_of([&] {
        progress shown(options.common.progress);
        shown.begin("searching");
        tulle_policy::run(0,
                          [&] { totals = search<tulle_policy>(options, *matcher, shown, false); });
    });
    std::printf("%zu matching lines in %zu of %zu files (%.1f MB, %.3f s)\n", totals.lines,
                totals.files_with_match, totals.files, static_cast<double>(totals.bytes) / 1e6,
                seconds);
    return totals.unreadable > 0 ? k_exit_trouble : totals.lines > 0 ? k_exit_ok : k_exit_no_match;
}

// The sum of the counts per file that grep prints, each at the end of a line.
std::size_t count_by_grep(grep_options const& options) {
    std::vector<std::string> words{"grep", "-rach",         options.expression ? "-E" : "-F",
                                   "-e",   options.pattern, "--"};
    words.insert(words.end(), options.roots.begin(), options.roots.end());
    auto const result = run_command(words);
    if (result.exit_code > 1) throw std::runtime_error("grep failed");
    std::size_t lines = 0;
    std::string_view rest = result.output;
    while (!rest.empty()) {
        lines += std::stoull(std::string(rest.substr(0, rest.find('\n'))));
        rest.remove_prefix(rest.find('\n') + 1);
    }
    return lines;
}

int compare(grep_options const& options) {
    if (!command_exists("grep")) throw std::runtime_error("--compare needs the program grep");
    auto const matcher = matcher_for(options);
    std::size_t const expected = count_by_grep(options);
    std::size_t found = 0;
    std::string const roots = std::accumulate(
        options.roots.begin(), options.roots.end(), "'" + options.pattern + "' in",
        [](std::string all, std::string const& root) { return std::move(all) + " " + root; });
    contest event{"tgrep", roots, [&found] { found = 0; },
                  [&found, expected] { return found == expected; },
                  contestants_for([&found, &options, &matcher]<class Policy>() {
                      progress silent(false);
                      found = search<Policy>(options, *matcher, silent, true).lines;
                  })};
    event.contestants.push_back(
        {"grep -ra -c", role::peer, [&found, &options] { found = count_by_grep(options); }});
    return hold_contest(event, options.common) ? k_exit_ok : k_exit_check_failed;
}

} // namespace

int main(int argc, char** argv) {
    command_line line{"Counts the lines that contain PATTERN in all files below the directories, "
                      "in parallel. Binary files "
                      "count as text;\n"
                      "links are not followed. The exit code is 0 when a line matches, 1 when none "
                      "does, 2 when something "
                      "cannot be read.",
                      "tgrep"};
    grep_options options;
    line.text("PATTERN", options.pattern, "a string of bytes, or with -E an expression");
    line.require("PATTERN");
    line.texts("DIR", options.roots, "directories or files");
    line.require("DIR");
    line.flag("-E,--extended-regexp", options.expression,
              "PATTERN is a POSIX extended regular expression");
    line.flag("--compare", options.compare,
              "print times beside other libraries and grep, and check against grep");
    add_contest_options(line, options.common);
    return line.run(argc, argv, [&] {
        runtime_session const session(options.common, k_stack_size);
        return options.compare ? compare(options) : count(options);
    });
}
