// SPDX-License-Identifier: Apache-2.0
// What a program of SPLASH has printed: the time that it has measured, and its result, as far as it
// prints one.
#pragma once

#include "bench/splash_programs.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tulle::tool {

struct splash_result {
    std::vector<std::string> lines{};
    std::map<std::string, std::string> pictures{}; // all bytes of each file
};

// Milliseconds of the parallel section; nothing: it has not come so far.
[[nodiscard]] std::optional<double> splash_time(std::string const& output);

// Those that there are in the folder in which it runs.
[[nodiscard]] std::vector<std::filesystem::path>
splash_pictures(splash_size const& size, std::filesystem::path const& folder);

[[nodiscard]] splash_result splash_result_of(splash_program const& program, splash_size const& size,
                                             std::string const& output,
                                             std::filesystem::path const& folder);

// Lines of processes on two hosts come as they come.
enum class line_order { same, any };

// Empty: it is the same as `right`, and its own test has passed. Else the first difference.
[[nodiscard]] std::string splash_difference(splash_program const& program,
                                            splash_result const& right, splash_result const& found,
                                            line_order order);

} // namespace tulle::tool
