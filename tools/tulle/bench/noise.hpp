// SPDX-License-Identifier: Apache-2.0
// Whether figures hold: how much they vary from run to run, and how much of the processors other
// programs have used meanwhile.
#pragma once

#include "bench/figure.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tulle::tool {

class load_of_others {
public:
    // From now on; of the processor times in this file, which is as /proc/stat.
    explicit load_of_others(std::filesystem::path times);

    // So many processors on average; 0: that is not known.
    [[nodiscard]] double processors() const;

private:
    // Of all programs without this one and those that it has run.
    [[nodiscard]] std::optional<double> seconds() const;

    std::filesystem::path m_times;
    std::chrono::steady_clock::time_point m_begin;
    std::optional<double> m_seconds;
};

// What makes the figures doubtful and what to do, in a sentence; empty: nothing does.
[[nodiscard]] std::string noise_text(std::vector<figure> const& figures, double others);

} // namespace tulle::tool
