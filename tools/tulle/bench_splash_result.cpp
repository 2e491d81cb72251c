// SPDX-License-Identifier: Apache-2.0
#include "bench_splash_result.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

namespace tulle::tool {

namespace {

constexpr double k_least = 1e-3; // of numbers about 0: rounding errors

std::vector<std::string> words_of(std::string const& line) {
    std::istringstream in(line);
    return {std::istream_iterator<std::string>(in), {}};
}

// Words may have punctuation around their number. Nothing: it is none.
std::optional<double> number_in(std::string const& word) {
    std::size_t const begin = word.find_first_of("+-.0123456789");
    if (begin == std::string::npos || begin > 1) return std::nullopt;
    char* end = nullptr;
    double const value = std::strtod(word.c_str() + begin, &end);
    return end == word.c_str() + begin ? std::nullopt : std::optional(value);
}

bool are_alike(std::string const& a, std::string const& b, double tolerance) {
    if (a == b) return true;
    std::optional<double> const x = number_in(a);
    std::optional<double> const y = number_in(b);
    if (!x || !y) return false;
    return std::fabs(*x - *y) <= tolerance * std::max({std::fabs(*x), std::fabs(*y), k_least});
}

bool are_alike_lines(std::string const& a, std::string const& b, double tolerance) {
    std::vector<std::string> const x = words_of(a);
    std::vector<std::string> const y = words_of(b);
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [tolerance](std::string const& one, std::string const& other) {
                          return are_alike(one, other, tolerance);
                      });
}

bool says_failed(std::string const& line) {
    return line.find("FAILED") != std::string::npos || line.find("Max error") != std::string::npos;
}

std::string whole(std::filesystem::path const& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

std::optional<double> splash_time(std::string const& output) {
    static std::regex const wanted(
        R"((?:Total time without initialization|COMPUTETIME[^=\n]*)\s*[:=]?\s*([0-9]+))");
    std::smatch match;
    if (!std::regex_search(output, match, wanted)) return std::nullopt;
    return std::strtod(match[1].str().c_str(), nullptr) / 1e3;
}

splash_result splash_result_of(splash_program const& program, splash_size const& size,
                               std::string const& output, std::filesystem::path const& folder) {
    splash_result result;
    std::regex const wanted(program.results);
    std::istringstream in(output);
    for (std::string line; !program.results.empty() && std::getline(in, line);)
        if (std::regex_search(line, wanted)) result.lines.push_back(line);
    if (!size.picture.empty()) result.picture = whole(folder / size.picture);
    return result;
}

std::string splash_difference(splash_program const& program, splash_result const& right,
                              splash_result const& found) {
    for (std::string const& line : found.lines)
        if (says_failed(line)) return "it says: " + line;
    if (found.lines.size() != right.lines.size() ||
        (found.lines.empty() && !program.results.empty()))
        return "it prints " + std::to_string(found.lines.size()) + " lines of results instead of " +
               std::to_string(right.lines.size());
    for (std::size_t n = 0; n < right.lines.size(); ++n)
        if (!are_alike_lines(right.lines[n], found.lines[n], program.tolerance))
            return "\"" + found.lines[n] + "\" instead of \"" + right.lines[n] + '"';
    return found.picture == right.picture ? "" : "its picture is another one";
}

} // namespace tulle::tool
