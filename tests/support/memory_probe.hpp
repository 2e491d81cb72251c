// SPDX-License-Identifier: Apache-2.0
//
// Reads what the kernel says about the memory of this process.
#pragma once

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

/// A field of /proc/self/status in bytes, such as "VmRSS" or "VmPTE".
inline std::size_t status_bytes(std::string const& field) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(field + ":")) {
            std::size_t kib = 0;
            std::istringstream(line.substr(field.size() + 1)) >> kib;
            return kib * 1024;
        }
    }
    return 0;
}

/// Resident bytes, exact (the field of status is a cached count).
inline std::size_t resident_bytes() {
    std::ifstream file("/proc/self/smaps_rollup");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("Rss:")) {
            std::size_t kib = 0;
            std::istringstream(line.substr(4)) >> kib;
            return kib * 1024;
        }
    }
    return 0;
}

inline std::size_t mapping_count() {
    std::ifstream file("/proc/self/maps");
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);) {
        ++count;
    }
    return count;
}
