// SPDX-License-Identifier: Apache-2.0
// What the places of a job tell `tulle run` that has started its launcher (job.hpp): words among what they write to standard error, which every launcher
// passes on, whatever its exit code means. Who reads them takes them out again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tulle::tool {

enum class job_news : std::uint8_t {
    started, // the place of this number has been started
    joined,  // it has begun to use the library
    apart,   // it has ended well, and never used the library
    exited   // some place has ended the job, with this exit code
};

struct job_word {
    job_news what = job_news::started;
    unsigned number = 0; // a place, or an exit code
};

[[nodiscard]] std::string text_of(job_word word);

// Finds them in a text that comes in parts.
class job_words_reader {
public:
    // The text without them, as far as it cannot be the beginning of some.
    std::string take(std::string_view part);
    [[nodiscard]] std::string rest() { return std::exchange(m_rest, {}); }
    // Those that have been found since the last call.
    [[nodiscard]] std::vector<job_word> words() { return std::exchange(m_words, {}); }

private:
    std::string m_rest;
    std::vector<job_word> m_words;
};

} // namespace tulle::tool
