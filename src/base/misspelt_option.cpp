// SPDX-License-Identifier: Apache-2.0
#include "base/misspelt_option.hpp"

#include "base/nearest_word.hpp"
#include "base/option.hpp"

#include <cctype>
#include <string_view>

namespace tulle::base {

namespace {

constexpr std::string_view k_prefix = "TULLE_";

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
std::string variable_meant_by(std::string_view variable, std::vector<std::string> const& options) {
    std::string const nearest =
        nearest_word(in_lower_case(variable.substr(k_prefix.size())), options);
    if (nearest.empty()) return "";
    std::string const meant = std::string(k_prefix) + in_upper_case(nearest);
    return meant == variable ? "" : meant;
}

std::vector<std::string> names_of_options() {
    std::vector<std::string> names;
    for (option_row const& each : option_table().list()) names.push_back(each.name);
    return names;
}

} // namespace

std::vector<std::string> misspelt_options(char const* const* environment) {
    std::vector<std::string> found;
    std::vector<std::string> options; // once there is a reason
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        std::string_view const row = *environment;
        std::string_view const variable = row.substr(0, row.find('='));
        if (variable.substr(0, k_prefix.size()) != k_prefix) continue;
        if (options.empty()) options = names_of_options();
        std::string const meant = variable_meant_by(variable, options);
        if (!meant.empty())
            found.push_back(std::string(variable) + " is no option; is " + meant + " meant?");
    }
    return found;
}

} // namespace tulle::base
