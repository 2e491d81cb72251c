// SPDX-License-Identifier: Apache-2.0
#include "os/cgroup.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "os/text_file.hpp"

namespace tulle::os {
namespace {

// A mounted hierarchy: `subtree` of it appears at `point`.
struct mount {
    std::string_view point;
    std::string_view subtree;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        auto const end = text.find(separator);
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return parts;
}

bool has_word(std::string_view list, std::string_view word) {
    auto const words = split(list, ',');
    return std::find(words.begin(), words.end(), word) != words.end();
}

// The process's path in the hierarchy of the `cpu` controller (version 1) or in the unified one
// (version 2).
std::optional<std::string_view> find_membership(std::string_view text, bool unified) {
    std::optional<std::string_view> found;
    for_each_line(text, [&](std::string_view line) {
        auto const first = line.find(':');
        auto const second = first == std::string_view::npos ? first : line.find(':', first + 1);
        if (found || second == std::string_view::npos) return;
        std::string_view const controllers = line.substr(first + 1, second - first - 1);
        if (unified ? controllers.empty() : has_word(controllers, "cpu"))
            found = line.substr(second + 1);
    });
    return found;
}

// One line of mountinfo: "36 35 98:0 /subtree /mount/point options ... - type source
// super-options" (proc(5)).
std::optional<mount> parse_mount(std::string_view line, bool unified) {
    // Most lines.
    if (line.find(unified ? " - cgroup2 " : " - cgroup ") == std::string_view::npos)
        return std::nullopt;
    auto const fields = split(line, ' ');
    auto const dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 5 || fields.end() - dash < 4) {
        return std::nullopt;
    }
    return unified || has_word(dash[3], "cpu") ? std::optional<mount>(mount{fields[4], fields[3]})
                                               : std::nullopt;
}

std::optional<mount> find_mount(std::string_view text, bool unified) {
    std::optional<mount> found;
    for_each_line(text, [&](std::string_view line) {
        if (!found) found = parse_mount(line, unified);
    });
    return found;
}

std::string first_line(std::string const& file) {
    std::string const text = read_text(file).value_or("");
    return {text.begin(), std::find(text.begin(), text.end(), '\n')};
}

double ratio(std::string_view quota, std::string_view period) noexcept {
    std::optional<int> const quota_us = take_number(quota);
    std::optional<int> const period_us = take_number(period);
    bool const is_limit =
        quota_us && period_us && *quota_us > 0 && *period_us > 0; // "max" and -1: no limit
    return is_limit ? static_cast<double>(*quota_us) / *period_us : 0;
}

// The quota that one group sets for itself; 0 for none.
double group_quota(std::string const& directory, bool unified) {
    if (!unified) {
        return ratio(first_line(directory + "/cpu.cfs_quota_us"),
                     first_line(directory + "/cpu.cfs_period_us"));
    }
    std::string const line = first_line(directory + "/cpu.max");
    auto const fields = split(line, ' ');
    return fields.size() == 2 ? ratio(fields[0], fields[1]) : 0;
}

// The group's path below the mount point. Without a cgroup namespace a container sees the host's
// path, of which only the part below the mounted subtree exists here.
std::string visible_path(std::string_view path, mount const& mounted) {
    if (mounted.subtree != "/" && path.starts_with(mounted.subtree)) {
        path.remove_prefix(mounted.subtree.size());
    }
    return std::string(path == "/" || path.find("..") != std::string_view::npos ? std::string_view{}
                                                                                : path);
}

double smaller_limit(double one, double other) noexcept {
    if (one <= 0 || other <= 0) {
        return std::max(one, other);
    }
    return std::min(one, other);
}

double hierarchy_quota(std::string_view memberships, std::string_view mounts,
                       std::string const& root, bool unified) {
    auto const path = find_membership(memberships, unified);
    auto const where = path ? find_mount(mounts, unified) : std::nullopt;
    if (!where) {
        return 0;
    }
    std::string const top = root + std::string(where->point);
    std::string group = visible_path(*path, *where);
    double quota = group_quota(top, unified);
    while (!group.empty()) {
        quota = smaller_limit(quota, group_quota(top + group, unified));
        group.erase(std::min(group.rfind('/'), group.size()));
    }
    return quota;
}

} // namespace

double cgroup_quota(cgroup_files const& files) {
    std::string const memberships = read_text(files.membership).value_or("");
    std::string const mounts = read_text(files.mounts).value_or("");
    return smaller_limit(hierarchy_quota(memberships, mounts, files.root, true),
                         hierarchy_quota(memberships, mounts, files.root, false));
}

} // namespace tulle::os
