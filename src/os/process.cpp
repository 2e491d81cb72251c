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

// The beginning of a small file, terminated. False: it cannot be read.
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

// The number that follows so many spaces; 0: there is none.
std::uint64_t field_after(char const* text, int spaces) noexcept {
    for (; spaces > 0 && text != nullptr; --spaces) {
        text = std::strchr(text + 1, ' ');
    }
    return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

} // namespace

// proc(5): "number (name) state parent ..."; the name may hold anything, but what follows has no
// parenthesis. The number of threads is field 20, the start field 22. A zombie that has other
// threads is a process whose first thread has ended.
std::uint64_t start_of_process(int process) noexcept {
    char path[32];
    char text[1024];
    static_cast<void>(std::snprintf(path, sizeof path, "/proc/%d/stat", process));
    char const* const state =
        read_file(path, text, sizeof text) ? std::strrchr(text, ')') : nullptr;
    if (state == nullptr || std::strlen(state) < 3) {
        return 0;
    }
    bool const has_ended = state[2] == 'X' || (state[2] == 'Z' && field_after(state, 18) <= 1);
    return has_ended ? 0 : field_after(state, 20);
}

std::uint64_t process_namespace() noexcept {
    struct stat about {};
    return ::stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

} // namespace tulle::os
