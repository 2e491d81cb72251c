// SPDX-License-Identifier: Apache-2.0
//
// Quotas read from faked trees of control groups.
#include "os/cgroup.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace {

using tulle::os::cgroup_files;
using tulle::os::cgroup_quota;

class cgroup : public ::testing::Test {
protected:
    void SetUp() override {
        auto const* const info = ::testing::UnitTest::GetInstance()->current_test_info();
        m_root = std::filesystem::temp_directory_path() /
                 ("tulle-cgroup-" + std::to_string(::getpid()) + "-" + info->name());
        std::filesystem::create_directories(m_root);
    }
    void TearDown() override { std::filesystem::remove_all(m_root); }

    void write(std::string const& path, std::string const& text) {
        auto const file = m_root / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text << '\n';
    }

    [[nodiscard]] double quota() const {
        return cgroup_quota({m_root / "membership", m_root / "mounts", m_root.string()});
    }

    void use_version_2(std::string const& path, std::string const& subtree = "/") {
        write("membership", "0::" + path);
        write("mounts", "24 1 0:20 / /proc rw - proc proc rw\n30 24 0:26 " + subtree +
                            " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw");
    }

    void use_version_1(std::string const& path) {
        write("membership",
              "5:memory:/other\n4:cpuset:/sets\n3:cpu,cpuacct:" + path + "\n0::/unified");
        write("mounts", "31 24 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
                        "32 24 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct");
    }

private:
    std::filesystem::path m_root;
};

TEST_F(cgroup, version_2_reads_its_own_group) {
    use_version_2("/box");
    write("sys/fs/cgroup/box/cpu.max", "150000 100000");
    EXPECT_DOUBLE_EQ(quota(), 1.5);
}

TEST_F(cgroup, version_2_walks_up_to_the_tightest) {
    use_version_2("/a/b/c");
    write("sys/fs/cgroup/a/cpu.max", "50000 100000");
    write("sys/fs/cgroup/a/b/cpu.max", "400000 100000");
    write("sys/fs/cgroup/a/b/c/cpu.max", "max 100000");
    EXPECT_DOUBLE_EQ(quota(), 0.5);
}

TEST_F(cgroup, version_2_sees_the_root_of_a_namespace) {
    use_version_2("/");
    write("sys/fs/cgroup/cpu.max", "300000 100000");
    EXPECT_DOUBLE_EQ(quota(), 3.0);
}

TEST_F(cgroup, container_without_namespace_sees_the_hosts_path) {
    use_version_2("/docker/abc/inner", "/docker/abc");
    write("sys/fs/cgroup/cpu.max", "200000 100000");
    write("sys/fs/cgroup/inner/cpu.max", "100000 100000");
    EXPECT_DOUBLE_EQ(quota(), 1.0);
}

TEST_F(cgroup, version_1_reads_quota_and_period) {
    use_version_1("/box/inner");
    write("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "250000");
    write("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000");
    write("sys/fs/cgroup/cpu/box/inner/cpu.cfs_quota_us", "-1");
    write("sys/fs/cgroup/cpu/box/inner/cpu.cfs_period_us", "100000");
    EXPECT_DOUBLE_EQ(quota(), 2.5);
}

TEST_F(cgroup, no_limit_is_zero) {
    EXPECT_EQ(quota(), 0.0) << "no files at all";
    use_version_2("/box");
    EXPECT_EQ(quota(), 0.0) << "no cpu.max";
    write("sys/fs/cgroup/box/cpu.max", "max 100000");
    EXPECT_EQ(quota(), 0.0);
}

TEST_F(cgroup, nonsense_is_no_limit) {
    use_version_2("/../../box");
    write("sys/fs/cgroup/cpu.max", "banana");
    EXPECT_EQ(quota(), 0.0);
    write("sys/fs/cgroup/cpu.max", "100000 0");
    EXPECT_EQ(quota(), 0.0);
    write("mounts", "30 24 0:26\n- - - -\n\ngarbage - cgroup2");
    write("membership", "no colons here\n:");
    EXPECT_EQ(quota(), 0.0);
}

} // namespace
