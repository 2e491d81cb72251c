// SPDX-License-Identifier: Apache-2.0
// Which of the words that are known is meant by one that is none of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tulle::base {

// The one that differs by the fewest letters, which are put in, left out, changed, or swapped with
// the next: in a word of three letters one at most, of seven two. The first of several; the word
// itself if it is known; empty: none is near. std::bad_alloc.
[[nodiscard]] std::string nearest_word(std::string_view word,
                                       std::vector<std::string> const& known);

// "did you mean 'run'? " of a word that is not known; empty: none is near. std::bad_alloc.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       std::vector<std::string> const& known);

} // namespace tulle::base
