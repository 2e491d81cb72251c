// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

// What the descriptors of the process are. Those of /proc the run time opens for itself at any
// time.
inline std::vector<std::string> open_descriptors() {
    std::vector<std::string> found;
    for (auto const& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code error;
        std::string const file = std::filesystem::read_symlink(entry.path(), error).string();
        if (!error && !file.starts_with("/proc/")) found.push_back(file);
    }
    std::sort(found.begin(), found.end());
    return found;
}
