// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_word.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace tulle::base {

namespace {

constexpr std::size_t k_letters_for_one = 3; // that a word has where one of them may be wrong
constexpr std::size_t k_letters_for_two = 7;

std::size_t most_wrong(std::string_view known) noexcept {
    if (known.size() < k_letters_for_one) return 0;
    return known.size() < k_letters_for_two ? 1 : 2;
}

// The distance of Damerau and Levenshtein, in which no letter is moved twice.
std::size_t wrong_letters(std::string_view a, std::string_view b) {
    std::vector<std::size_t> above_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::swap(above_last, last);
        std::swap(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            std::size_t const changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
            bool const is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (is_swapped) row[j] = std::min(row[j], above_last[j - 2] + 1);
        }
    }
    return row.back();
}

} // namespace

std::string nearest_word(std::string_view word, std::vector<std::string> const& known) {
    std::string nearest;
    std::size_t fewest = static_cast<std::size_t>(-1);
    for (std::string const& each : known) {
        std::size_t const wrong = wrong_letters(word, each);
        if (wrong > most_wrong(each) || wrong >= fewest) continue;
        nearest = each;
        fewest = wrong;
    }
    return nearest;
}

std::string did_you_mean(std::string_view word, std::vector<std::string> const& known) {
    std::string const nearest = nearest_word(word, known);
    return nearest.empty() ? "" : "did you mean '" + nearest + "'? ";
}

} // namespace tulle::base
