// SPDX-License-Identifier: Apache-2.0
//
// Counts the matching lines of all regular files below some directories, in parallel: a thread for
// each directory and each file, which open and read as they go. Links met on the way are not
// followed, as grep -r does not follow them.
#pragma once

#include "buffer_pool.hpp"
#include "file.hpp"
#include "line_matcher.hpp"
#include "policies.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <vector>

namespace examples {

struct search_totals {
    std::size_t lines = 0; // that match
    std::size_t files = 0; // that were read
    std::size_t files_with_match = 0;
    std::size_t bytes = 0;
    std::size_t unreadable = 0;

    friend search_totals operator+(search_totals const& a, search_totals const& b) {
        return {a.lines + b.lines, a.files + b.files, a.files_with_match + b.files_with_match,
                a.bytes + b.bytes, a.unreadable + b.unreadable};
    }
    friend bool operator==(search_totals const&, search_totals const&) = default;
};

// Advance(n) is told of bytes that were searched.
template <class Policy, class Advance> class tree_search {
public:
    tree_search(line_matcher const& matcher, bool quiet, Advance const& advance)
        : m_matcher(matcher), m_quiet(quiet), m_advance(advance) {}

    search_totals search(std::vector<std::string> const& roots) const {
        return sum(0, roots.size(),
                   [this, &roots](std::size_t i) { return search_root(roots[i]); });
    }

private:
    static constexpr std::size_t k_buffer = std::size_t{256} << 10U;

    struct entry {
        std::string name;
        unsigned char type; // DT_...
    };

    template <class Body>
    static search_totals sum(std::size_t low, std::size_t high, Body const& body) {
        if (low == high) return {};
        if (high - low == 1) return body(low);
        std::size_t const middle = low + (high - low) / 2;
        auto const [a, b] =
            Policy::invoke([&body, middle, high] { return sum(middle, high, body); },
                           [&body, low, middle] { return sum(low, middle, body); });
        return a + b;
    }

    search_totals search_root(std::string const& path) const {
        struct stat status {};
        if (stat(path.c_str(), &status) != 0) return complain(path);
        if (S_ISDIR(status.st_mode)) return search_directory(AT_FDCWD, path, path, 0);
        return search_file(AT_FDCWD, path, path);
    }

    // name: relative to the open directory parent; path: for messages.
    search_totals search_directory(int parent, std::string const& name, std::string const& path,
                                   int no_follow) const {
        int const descriptor =
            openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | no_follow);
        if (descriptor < 0) return complain(path);
        std::unique_ptr<DIR, int (*)(DIR*)> const directory(fdopendir(descriptor), closedir);
        if (directory == nullptr) return complain(path);
        auto const entries = list(directory.get());
        return sum(0, entries.size(), [&](std::size_t i) {
            entry const& e = entries[i];
            std::string const below = path + "/" + e.name;
            return e.type == DT_DIR ? search_directory(descriptor, e.name, below, O_NOFOLLOW)
                                    : search_file(descriptor, e.name, below);
        });
    }

    static std::vector<entry> list(DIR* directory) {
        std::vector<entry> entries;
        while (dirent const* const e = readdir(directory)) {
            std::string_view const name = e->d_name;
            if (name == "." || name == "..") continue;
            unsigned char const type =
                e->d_type == DT_UNKNOWN ? type_of(dirfd(directory), e->d_name) : e->d_type;
            if (type == DT_DIR || type == DT_REG) entries.push_back({std::string(name), type});
        }
        return entries;
    }

    static unsigned char type_of(int directory, char const* name) {
        struct stat status {};
        if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
        return S_ISDIR(status.st_mode) ? DT_DIR : S_ISREG(status.st_mode) ? DT_REG : DT_UNKNOWN;
    }

    search_totals search_file(int parent, std::string const& name, std::string const& path) const {
        int const descriptor = openat(parent, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (descriptor < 0) return complain(path);
        file const from(path, descriptor, true);
        search_totals totals{0, 1, 0, 0, 0};
        try {
            count_lines(from, totals);
        } catch (std::runtime_error const& error) {
            return complain(error.what(), totals);
        }
        totals.files_with_match = totals.lines > 0 ? 1 : 0;
        m_advance(totals.bytes);
        return totals;
    }

    // Reads buffer by buffer; the last line of each, which goes on in the next, is moved to the
    // front of it.
    void count_lines(file const& from, search_totals& totals) const {
        buffer_pool::loan const buffer(m_buffers);
        std::vector<char> longer; // when a line does not fit the buffer
        char* data = buffer.data();
        std::size_t room = buffer.size();
        std::size_t kept = 0;
        for (;;) {
            std::size_t const n = from.read_some(data + kept, room - kept);
            totals.bytes += n;
            std::string_view const lines(data, kept + n);
            // npos + 1 is 0
            std::size_t const whole = n == 0 ? lines.size() : lines.rfind('\n') + 1;
            totals.lines += m_matcher.count(lines.substr(0, whole));
            if (n == 0) return;
            kept = lines.size() - whole;
            std::memmove(data, data + whole, kept);
            if (kept < room) continue;
            longer.resize(2 * room);
            if (data == buffer.data()) std::memcpy(longer.data(), data, kept);
            data = longer.data();
            room = longer.size();
        }
    }

    search_totals complain(std::string const& path) const {
        return complain("cannot read '" + path + "': " + std::generic_category().message(errno),
                        {});
    }

    search_totals complain(std::string const& what, search_totals totals) const {
        if (!m_quiet) std::fprintf(stderr, "tgrep: %s\n", what.c_str());
        ++totals.unreadable;
        return totals;
    }

    line_matcher const& m_matcher;
    bool m_quiet;
    Advance const& m_advance;
    mutable buffer_pool m_buffers{k_buffer};
};

} // namespace examples
