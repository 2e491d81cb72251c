// SPDX-License-Identifier: Apache-2.0
#include "os/mapped_range.hpp"

#include <cstdio>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <unistd.h>

namespace tulle::os {
namespace {

struct map_line {
    address_range range;
    bool is_readable = false;
    bool is_writable = false;
    bool is_private = false;
    char const* name = ""; // up to the end of the text
};

// "low-high rw-p ..."
std::optional<map_line> parse(char const* line) noexcept {
    unsigned long low = 0, high = 0;
    char rights[5] = "";
    int at = 0; // where the name begins
    if (std::sscanf(line, "%lx-%lx %4s %*s %*s %*s %n", &low, &high, rights, &at) != 3) {
        return {};
    }
    return map_line{{low, high}, rights[0] == 'r', rights[1] == 'w', rights[3] == 'p', line + at};
}

// Calls see(line) for each mapping until it returns false. No heap, no lock.
template <class See> void for_each_mapping(See see, char const* file = "/proc/self/maps") {
    int const maps = ::open(file, O_RDONLY | O_CLOEXEC);
    char text[4096];
    std::size_t length = 0;
    for (bool go_on = true; go_on && maps >= 0;) {
        ssize_t const got = ::read(maps, text + length, sizeof text - 1 - length);
        if (got <= 0) {
            break;
        }
        length += static_cast<std::size_t>(got);
        text[length] = '\0';
        char* line = text;
        for (char* end = nullptr; go_on && (end = std::strchr(line, '\n')) != nullptr;
             line = end + 1) {
            *end = '\0';
            auto const found = parse(line);
            go_on = !found || see(*found);
        }
        length -= static_cast<std::size_t>(line - text);
        std::memmove(text, line, length);
    }
    if (maps >= 0) {
        ::close(maps);
    }
}

} // namespace

address_range mapping_around(std::uintptr_t address) noexcept {
    address_range range;
    for_each_mapping([&](map_line const& found) {
        bool const is_it = found.is_readable && found.range.contains(address);
        if (is_it) {
            range = found.range;
        }
        return !is_it;
    });
    return range;
}

named_range mapping_of(int process, std::uintptr_t address) noexcept {
    named_range made;
    char file[64] = "/proc/self/maps";
    if (process != 0) {
        std::snprintf(file, sizeof file, "/proc/%d/maps", process);
    }
    for_each_mapping(
        [&](map_line const& found) {
            bool const is_it = found.is_readable && found.range.contains(address);
            if (is_it) {
                made.range = found.range;
                made.is_own = found.is_writable && found.is_private;
                std::snprintf(made.name, sizeof made.name, "%s", found.name);
            }
            return !is_it;
        },
        file);
    return made;
}

std::vector<address_range> private_mappings() {
    std::vector<address_range> all;
    for_each_mapping([&](map_line const& found) {
        if (found.is_readable && found.is_private) {
            all.push_back(found.range);
        }
        return true;
    });
    return all;
}

} // namespace tulle::os
