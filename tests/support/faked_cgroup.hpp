// SPDX-License-Identifier: Apache-2.0
//
// A tree of files that looks like one control group of version 2 with a CPU quota; removed with the
// object.
#pragma once

#include "os/cgroup.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

class faked_cgroup {
public:
    explicit faked_cgroup(std::string const& cpu_max) {
        std::filesystem::create_directories(m_root / "sys/fs/cgroup/box");
        write("membership", "0::/box");
        write("mounts", "30 24 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw");
        set(cpu_max);
    }
    ~faked_cgroup() { std::filesystem::remove_all(m_root); }
    faked_cgroup(faked_cgroup const&) = delete;
    faked_cgroup& operator=(faked_cgroup const&) = delete;

    /// As in cpu.max: microseconds for each 100000, or "max".
    void set(std::string const& cpu_max) {
        write("sys/fs/cgroup/box/cpu.max", cpu_max + " 100000");
    }
    [[nodiscard]] tulle::os::cgroup_files files() const {
        return {m_root / "membership", m_root / "mounts", m_root.string()};
    }

private:
    void write(std::string const& path, std::string const& text) {
        std::ofstream(m_root / path) << text << '\n';
    }

    std::filesystem::path m_root =
        std::filesystem::temp_directory_path() / ("tulle-quota-" + std::to_string(::getpid()));
};
