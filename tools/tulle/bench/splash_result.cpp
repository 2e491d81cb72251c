// SPDX-License-Identifier: Apache-2.0
#include "bench/splash_result.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
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

// Finds for each line of one result its own line of the other one, wherever that stands.
class line_pairs {
public:
    line_pairs(std::vector<std::string> const& right, std::vector<std::string> const& found,
               double tolerance)
        : m_right(right), m_found(found), m_tolerance(tolerance), m_pair_of(found.size(), k_none) {}

    // Those that have a line already go on to another one where that makes room.
    bool add(std::size_t line) {
        m_seen.assign(m_found.size(), false);
        return find_for(line);
    }
    [[nodiscard]] std::string first_left() const {
        return m_found[static_cast<std::size_t>(
            std::find(m_pair_of.begin(), m_pair_of.end(), k_none) - m_pair_of.begin())];
    }

private:
    static constexpr std::size_t k_none = static_cast<std::size_t>(-1);

    // Most stand in the same place.
    bool find_for(std::size_t line) {
        for (std::size_t k = 0; k < m_found.size(); ++k) {
            std::size_t const n = (line + k) % m_found.size();
            if (m_seen[n] || !are_alike_lines(m_right[line], m_found[n], m_tolerance)) continue;
            m_seen[n] = true;
            if (m_pair_of[n] != k_none && !find_for(m_pair_of[n])) continue;
            m_pair_of[n] = line;
            return true;
        }
        return false;
    }

    std::vector<std::string> const& m_right;
    std::vector<std::string> const& m_found;
    double m_tolerance;
    std::vector<std::size_t> m_pair_of; // of each line found: that of `right`
    std::vector<bool> m_seen;
};

std::string difference_of_lines(std::string const& right, std::string const& found) {
    return '"' + found + "\" instead of \"" + right + '"';
}

// There are as many of both.
std::string line_difference(std::vector<std::string> const& right,
                            std::vector<std::string> const& found, double tolerance,
                            line_order order) {
    line_pairs pairs(right, found, tolerance);
    for (std::size_t n = 0; n < right.size(); ++n) {
        if (order == line_order::same) {
            if (!are_alike_lines(right[n], found[n], tolerance))
                return difference_of_lines(right[n], found[n]);
        } else if (!pairs.add(n)) {
            return difference_of_lines(right[n], pairs.first_left());
        }
    }
    return "";
}

// Of lines in the same order.
std::string difference_of_most(splash_result const& right, splash_result const& found,
                               double tolerance) {
    std::size_t different = 0;
    for (std::size_t n = 0; n < right.lines.size(); ++n)
        if (!are_alike_lines(right.lines[n], found.lines[n], tolerance)) ++different;
    if (8 * different <= right.lines.size()) return "";
    return std::to_string(different) + " of " + std::to_string(right.lines.size()) +
           " lines are not quite as they should be";
}

// Of which at most so many bytes differ.
bool are_alike_pictures(std::string const& a, std::string const& b, std::size_t unset) {
    if (a.size() != b.size()) return false;
    std::size_t different = 0;
    for (std::size_t n = 0; n < a.size(); ++n) different += a[n] == b[n] ? 0U : 1U;
    return different <= unset;
}

template <class T> T at_offset(std::string const& bytes, std::size_t offset) {
    T value{};
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

// Volrend's library writes structures of TIFF as they lie in memory. On machines of 64 bits an
// entry of the directory has padding behind its type, which is what was in that memory before.
void clear_padding(std::string& picture) {
    constexpr std::size_t k_header = 16; // "II*", and where the directory begins
    constexpr std::size_t k_entry = 24;  // tag, type, padding, count, value
    constexpr std::size_t k_padding = 4;
    constexpr std::size_t k_before = 2 * sizeof(std::uint16_t);
    if (picture.size() < k_header || !picture.starts_with("II*")) return;
    auto const directory = at_offset<std::uint64_t>(picture, k_header / 2);
    if (directory < k_header || directory > picture.size() - sizeof(std::uint16_t)) return;
    auto const count = at_offset<std::uint16_t>(picture, directory);
    std::size_t entry = directory + sizeof count;
    for (unsigned n = 0; n < count && entry + k_entry <= picture.size(); ++n, entry += k_entry)
        picture.replace(entry + k_before, k_padding, k_padding, '\0');
}

// Volrend prints milliseconds of each picture for each process: those of the first one.
std::optional<double> time_of_pictures(std::string const& output) {
    static std::regex const wanted(
        R"(^ *0\t *[0-9]+\t *([0-9]+)\t *([0-9]+)\t *-?[0-9]+\t *-?[0-9]+\t *-?[0-9]+$)");
    std::optional<double> time;
    std::istringstream in(output);
    std::smatch match;
    for (std::string line; std::getline(in, line);)
        if (std::regex_match(line, match, wanted))
            time = time.value_or(0) + std::strtod(match[1].str().c_str(), nullptr) +
                   std::strtod(match[2].str().c_str(), nullptr);
    return time;
}

} // namespace

std::optional<double> splash_time(std::string const& output) {
    static std::regex const wanted(
        R"((?:Total time without initialization|COMPUTETIME[^=\n]*)\s*[:=]?\s*([0-9]+))");
    std::smatch match;
    if (!std::regex_search(output, match, wanted)) return time_of_pictures(output);
    return std::strtod(match[1].str().c_str(), nullptr) / 1e3;
}

std::vector<std::filesystem::path> splash_pictures(splash_size const& size,
                                                   std::filesystem::path const& folder) {
    std::vector<std::filesystem::path> all;
    if (size.pictures.empty()) return all;
    std::filesystem::path const beginning = folder / size.pictures;
    std::error_code none;
    for (auto const& entry : std::filesystem::directory_iterator(beginning.parent_path(), none))
        if (entry.path().string().starts_with(beginning.string())) all.push_back(entry.path());
    return all;
}

splash_result splash_result_of(splash_program const& program, splash_size const& size,
                               std::string const& output, std::filesystem::path const& folder) {
    splash_result result;
    std::regex const wanted(program.results);
    std::istringstream in(output);
    for (std::string line; !program.results.empty() && std::getline(in, line);)
        if (std::regex_search(line, wanted)) result.lines.push_back(line);
    for (std::filesystem::path const& picture : splash_pictures(size, folder))
        clear_padding(
            result.pictures.emplace(picture.filename().string(), whole(picture)).first->second);
    return result;
}

namespace {

std::string picture_difference(splash_program const& program, splash_result const& right,
                               splash_result const& found) {
    if (!program.quick.pictures.empty() && found.pictures.empty()) return "it wrote no picture";
    if (found.pictures.size() != right.pictures.size())
        return "it wrote " + std::to_string(found.pictures.size()) + " pictures instead of " +
               std::to_string(right.pictures.size());
    for (auto const& [name, picture] : right.pictures) {
        auto const other = found.pictures.find(name);
        if (other == found.pictures.end() ||
            !are_alike_pictures(picture, other->second, program.unset_bytes))
            return "its picture " + name + " is another one";
    }
    return "";
}

} // namespace

std::string splash_difference(splash_program const& program, splash_result const& right,
                              splash_result const& found, line_order order) {
    for (std::string const& line : found.lines)
        if (says_failed(line)) return "it says: " + line;
    if (found.lines.size() != right.lines.size() ||
        (found.lines.empty() && !program.results.empty()))
        return "it prints " + std::to_string(found.lines.size()) + " lines of results instead of " +
               std::to_string(right.lines.size());
    std::string const line = line_difference(right.lines, found.lines, program.tolerance, order);
    if (!line.empty()) return line;
    if (program.tolerance_of_most != 0) {
        std::string const most = difference_of_most(right, found, program.tolerance_of_most);
        if (!most.empty()) return most;
    }
    return picture_difference(program, right, found);
}

} // namespace tulle::tool
