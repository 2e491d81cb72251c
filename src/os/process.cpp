// SPDX-License-Identifier: Apache-2.0
#include "os/process.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tulle::os {

namespace {

/// The beginning of a small file, terminated. False: it cannot be read.
bool read_file(char const* path, char* text, std::size_t size) noexcept {
    int const file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    ssize_t const got = ::read(file, text, size - 1);
    ::close(file);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

} // namespace

// proc(5): "number (name) state parent ..."; the start is field 22. The name may hold anything, but what follows has no parenthesis.
std::uint64_t start_of_process(int process) noexcept {
    constexpr int k_fields_after_state = 19;
    char path[32];
    char text[1024];
    static_cast<void>(std::snprintf(path, sizeof path, "/proc/%d/stat", process));
    if (!read_file(path, text, sizeof text)) {
        return 0;
    }
    char const* field = std::strrchr(text, ')');
    if (field == nullptr || field[1] != ' ' || field[2] == 'Z' || field[2] == 'X') {
        return 0;
    }
    field += 2;
    for (int k = 0; k < k_fields_after_state && field != nullptr; ++k) {
        field = std::strchr(field + 1, ' ');
    }
    return field == nullptr ? 0 : std::strtoull(field, nullptr, 10);
}

std::uint64_t process_namespace() noexcept {
    struct stat about {};
    return ::stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

} // namespace tulle::os
