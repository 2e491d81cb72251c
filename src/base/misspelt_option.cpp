// SPDX-License-Identifier: Apache-2.0
#include "base/misspelt_option.hpp"

#include "base/option.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>

namespace tulle::base {

namespace {

constexpr std::string_view k_prefix = "TULLE_";
constexpr std::size_t k_letters_for_one = 4; // that a name has where one of them may be wrong
constexpr std::size_t k_letters_for_two = 7;

// Letters to be put in, left out or changed (Levenshtein's distance).
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            std::size_t const changed = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j + 1] + 1, row[j] + 1});
        }
    }
    return row.back();
}

std::size_t most_wrong(std::string_view name) noexcept {
    if (name.size() < k_letters_for_one) return 0;
    return name.size() < k_letters_for_two ? 1 : 2;
}

std::string in_lower_case(std::string_view text) {
    std::string made(text);
    for (char& letter : made)
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return made;
}
std::string in_upper_case(std::string_view text) {
    std::string made(text);
    for (char& letter : made)
        letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    return made;
}

// Of the option that it is not, but nearly; empty: of none.
std::string variable_meant_by(std::string_view variable, std::vector<option_row> const& options) {
    std::string const name = in_lower_case(variable.substr(k_prefix.size()));
    std::string meant;
    for (option_row const& each : options) {
        std::string const known = std::string(k_prefix) + in_upper_case(each.name);
        if (variable == known) return "";
        if (distance(name, each.name) <= most_wrong(each.name)) meant = known;
    }
    return meant;
}

} // namespace

std::vector<std::string> misspelt_options(char const* const* environment) {
    std::vector<std::string> found;
    std::vector<option_row> options; // once there is a reason
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        std::string_view const row = *environment;
        std::string_view const variable = row.substr(0, row.find('='));
        if (variable.substr(0, k_prefix.size()) != k_prefix) continue;
        if (options.empty()) options = option_table().list();
        std::string const meant = variable_meant_by(variable, options);
        if (!meant.empty())
            found.push_back(std::string(variable) + " is no option; is " + meant + " meant?");
    }
    return found;
}

} // namespace tulle::base
