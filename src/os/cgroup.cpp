// SPDX-License-Identifier: Apache-2.0
#include "os/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace tulle::os {
namespace {

/// A mounted hierarchy: `subtree` of it appears at `point`.
struct mount {
    std::string point;
    std::string subtree;
};

std::vector<std::string> split(std::string const& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) {
        parts.push_back(part);
    }
    return parts;
}

bool has_word(std::string const& list, std::string_view word) {
    auto const words = split(list, ',');
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// The process's path in the hierarchy of the `cpu` controller (version 1) or in the unified one (version 2).
std::optional<std::string> membership(std::string const& file, bool unified) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        auto const first = line.find(':');
        auto const second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        std::string const controllers = line.substr(first + 1, second - first - 1);
        if (unified ? controllers.empty() : has_word(controllers, "cpu")) {
            return line.substr(second + 1);
        }
    }
    return std::nullopt;
}

/// One line of mountinfo: "36 35 98:0 /subtree /mount/point options ... - type source super-options" (proc(5)).
std::optional<mount> parse_mount(std::string const& line, bool unified) {
    auto const fields = split(line, ' ');
    auto const dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 5 || fields.end() - dash < 4) {
        return std::nullopt;
    }
    bool const matches = unified ? dash[1] == "cgroup2" : dash[1] == "cgroup" && has_word(dash[3], "cpu");
    return matches ? std::optional<mount>(mount{fields[4], fields[3]}) : std::nullopt;
}

std::optional<mount> find_mount(std::string const& file, bool unified) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        if (auto const found = parse_mount(line, unified)) {
            return found;
        }
    }
    return std::nullopt;
}

std::string first_line(std::string const& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

double ratio(std::string const& quota, std::string const& period) {
    double quota_us = 0;
    double period_us = 0;
    bool const readable = (std::istringstream(quota) >> quota_us) && (std::istringstream(period) >> period_us);
    return readable && quota_us > 0 && period_us > 0 ? quota_us / period_us : 0; // "max" and -1: no limit
}

/// The quota that one group sets for itself; 0 for none.
double group_quota(std::string const& directory, bool unified) {
    if (!unified) {
        return ratio(first_line(directory + "/cpu.cfs_quota_us"), first_line(directory + "/cpu.cfs_period_us"));
    }
    auto const fields = split(first_line(directory + "/cpu.max"), ' ');
    return fields.size() == 2 ? ratio(fields[0], fields[1]) : 0;
}

/// The group's path below the mount point. Without a cgroup namespace a container sees the host's path, of which only the
/// part below the mounted subtree exists here.
std::string visible_path(std::string path, mount const& where) {
    if (where.subtree != "/" && path.starts_with(where.subtree)) {
        path.erase(0, where.subtree.size());
    }
    return path == "/" || path.find("..") != std::string::npos ? std::string{} : path;
}

double smaller_limit(double one, double other) noexcept {
    if (one <= 0 || other <= 0) {
        return std::max(one, other);
    }
    return std::min(one, other);
}

double hierarchy_quota(cgroup_files const& files, bool unified) {
    auto const path = membership(files.membership, unified);
    auto const where = find_mount(files.mounts, unified);
    if (!path || !where) {
        return 0;
    }
    std::string const top = files.root + where->point;
    std::string group = visible_path(*path, *where);
    double quota = group_quota(top, unified);
    while (!group.empty()) {
        quota = smaller_limit(quota, group_quota(top + group, unified));
        group.erase(std::min(group.rfind('/'), group.size()));
    }
    return quota;
}

} // namespace

double cgroup_quota(cgroup_files const& files) { return smaller_limit(hierarchy_quota(files, true), hierarchy_quota(files, false)); }

} // namespace tulle::os
