// SPDX-License-Identifier: Apache-2.0
// What the places of a job tell `tulle run` that has started its launcher (job.hpp): words among
// what they write to standard error, which every launcher passes on, whatever its exit code means.
// The reader takes them out again.
// What places print can go this way, too, in parts that tell whose they are: launchers pass on what
// they have read, wherever that ends, so lines of several places would get into each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tulle::tool {

class watched_signals;

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

// Whether each write to this pipe is read by a read of its own, so that launchers pass on parts as
// a whole.
[[nodiscard]] bool keep_writes_apart(int pipe);
// Lines of a place, and perhaps the beginning of one, which is passed on at once. In such a pipe.
// False: it is lost.
bool write_printed(int pipe, unsigned place, std::string_view text, watched_signals& signals);

// Finds them in a text that comes in parts.
class job_words_reader {
public:
    // The text without them, as far as it cannot be the beginning of some.
    std::string take(std::string_view part);
    [[nodiscard]] std::string rest() { return std::exchange(m_rest, {}); }
    // Those that have been found since the last call.
    [[nodiscard]] std::vector<job_word> words() { return std::exchange(m_words, {}); }
    // What has been printed since the last call, in whole lines or up to the end of what a place
    // has written.
    [[nodiscard]] std::string printed() { return std::exchange(m_printed, {}); }

private:
    bool take_word();
    bool take_printed();

    std::string m_rest;
    std::vector<job_word> m_words;
    std::string m_printed;
    std::map<unsigned, std::string> m_parts; // of a text of which more is to come, by places
};

} // namespace tulle::tool
