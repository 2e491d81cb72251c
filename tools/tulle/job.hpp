// SPDX-License-Identifier: Apache-2.0
// A launcher of an MPI as it runs: what it says goes on, less the words in which places tell how they have ended, because launchers have exit
// codes of their own when a process ends badly.
#pragma once

#include "process.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tulle::tool {

// Whether the user has asked that places go on when another one dies; some launchers can do that.
[[nodiscard]] bool wants_survivors();

// What a place writes to standard error for run_job, which takes it out again.
[[nodiscard]] std::string exit_words(int code);

// Finds these words in a text that comes in parts.
class exit_words_reader {
public:
    // The text without them, as far as it cannot be the beginning of some.
    std::string take(std::string const& part);
    [[nodiscard]] std::string rest() { return std::move(m_rest); }
    [[nodiscard]] std::optional<int> code() const noexcept { return m_code; } // of the first one

private:
    void note(std::string_view number) noexcept;

    std::string m_rest;
    std::optional<int> m_code;
};

// The exit code: what the first place has told that ended badly; else that of the launcher. Signals are passed on to it. Throws failure: it
// cannot be started.
int run_job(arguments const& launcher);

} // namespace tulle::tool
