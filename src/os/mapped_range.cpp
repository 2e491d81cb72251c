// SPDX-License-Identifier: Apache-2.0
#include "os/mapped_range.hpp"

#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace tulle::os {
namespace {

/// "low-high rw-p ..."
bool holds(char const* line, std::uintptr_t address, address_range& range) noexcept {
    unsigned long low = 0, high = 0;
    char readable = '-';
    if (std::sscanf(line, "%lx-%lx %c", &low, &high, &readable) != 3 || readable != 'r' || address < low || address >= high) {
        return false;
    }
    range = {low, high};
    return true;
}

} // namespace

address_range mapping_around(std::uintptr_t address) noexcept {
    address_range range;
    int const maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    char text[4096];
    std::size_t length = 0;
    while (maps >= 0) {
        ssize_t const got = ::read(maps, text + length, sizeof text - 1 - length);
        if (got <= 0) {
            break;
        }
        length += static_cast<std::size_t>(got);
        text[length] = '\0';
        char* line = text;
        for (char* end = nullptr; (end = std::strchr(line, '\n')) != nullptr; line = end + 1) {
            *end = '\0';
            if (holds(line, address, range)) {
                ::close(maps);
                return range;
            }
        }
        length -= static_cast<std::size_t>(line - text);
        std::memmove(text, line, length);
    }
    if (maps >= 0) {
        ::close(maps);
    }
    return range;
}

} // namespace tulle::os
