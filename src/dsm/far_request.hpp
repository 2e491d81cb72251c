// SPDX-License-Identifier: Apache-2.0
// What hosts that share no memory ask each other. A request is a head and words; all hosts have
// the same order of bytes, as they run one program.
#pragma once

#include "dsm/line_range.hpp"

#include <cstddef>
#include <cstdint>

#include <tulle/coherent_abi.h>

namespace tulle::dsm {

enum class far_operation : std::uint64_t {
    fetch,       // the bytes of lines of the asked one's copy; the asker has a copy from now on
    differences, // words that were changed, to be written into masters of hosts of that machine
    notices,     // of the asker: ranges and their homes, for all hosts of that machine
    release,     // both, one after the other
    claim,       // homes of lines that the asked one keeps for all; the asker's if they had none
    chunks,      // lines that were allocated
    put,         // bytes of lines, for the copies of all hosts of that machine
    share,       // from now on others use the memory
    access       // an atomic one, in the asked one's copy: address, operand, expected, action
};

struct far_head {
    far_operation what;
    // Differences, notices: the count is that of entries; of both: of differences, and `first` that
    // of notices, which follow.
    line_range lines;
};

using far_word = std::uint64_t;
inline constexpr std::size_t k_words_of_line = TULLE_COHERENT_LINE / sizeof(far_word);

// An entry of notices.
struct far_notice {
    line_range lines;
    far_word home; // as the byte of a home
};

// An entry of differences: words of one line of a home. Its words follow, those whose bit in
// `words` is set; of the byte masks each has 8 bits for the bytes of a word.
struct far_difference {
    far_word line;
    std::uint32_t home; // a host
    std::uint32_t words;
    std::uint8_t bytes[k_words_of_line];
};
inline constexpr std::size_t k_most_of_difference = sizeof(far_difference) + TULLE_COHERENT_LINE;

// An access.
struct far_access {
    far_word address, operand, expected, action;
};

} // namespace tulle::dsm
