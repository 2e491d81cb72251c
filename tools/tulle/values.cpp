// SPDX-License-Identifier: Apache-2.0
#include "values.hpp"

#include "base/nearest_word.hpp"
#include "base/option.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tulle::tool {

namespace {

// `check` returns what is wrong, or nothing.
template <class Check> CLI::Validator validator(Check check) {
    auto const checked = [check](std::string& given) {
        return given == "--" ? std::string("its value is missing: `--` follows") : check(given);
    };
    return CLI::Validator(checked, "");
}

// One with leading zeros would be read as octal.
bool is_number_from(std::string const& given, std::uint64_t least, std::uint64_t most) {
    std::uint64_t number = 0;
    auto const [end, error] = std::from_chars(given.data(), given.data() + given.size(), number);
    bool const is_read = error == std::errc() && end == given.data() + given.size();
    return is_read && given == std::to_string(number) && number >= least && number <= most;
}

// "option workers: 'x' is not ..." begins with the name of the library's option, where the command
// line has another one.
std::string without_option(std::string const& sentence) {
    std::size_t const colon = sentence.find(": ");
    return colon == std::string::npos ? sentence : sentence.substr(colon + 2);
}

} // namespace

CLI::Validator number_from(std::uint64_t least, std::uint64_t most) {
    return validator([least, most](std::string const& given) {
        return is_number_from(given, least, most)
                   ? std::string()
                   : "'" + given + "' is not a number from " + std::to_string(least) + " to " +
                         std::to_string(most);
    });
}

CLI::Validator one_of(std::vector<std::string> words) {
    return validator([words = std::move(words)](std::string const& given) {
        if (std::find(words.begin(), words.end(), given) != words.end()) return std::string();
        std::string sentence = "'" + given + "' is none of ";
        for (std::string const& word : words) sentence += (&word == &words[0] ? "" : ", ") + word;
        std::string const meant = base::nearest_word(given, words);
        return meant.empty() ? sentence : sentence + "; did you mean '" + meant + "'?";
    });
}

CLI::Validator value_of(std::string option) {
    return validator([option = std::move(option)](std::string const& given) {
        if (given.empty()) return std::string(); // as if it were not there
        auto const wrong =
            base::option_table().set(option, given, base::option_source::command_line);
        return wrong ? without_option(*wrong) : std::string();
    });
}

CLI::Validator assignment_of_option() {
    return validator([](std::string const& given) {
        return base::option_table()
            .set_assignment(given, base::option_source::command_line)
            .value_or("");
    });
}

CLI::Validator any_text() {
    return validator([](std::string const& given) {
        bool const is_option = given.rfind("--", 0) == 0;
        return is_option ? "its value is missing: `" + given + "` follows" : std::string();
    });
}

} // namespace tulle::tool
