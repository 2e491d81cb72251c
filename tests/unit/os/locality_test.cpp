// SPDX-License-Identifier: Apache-2.0
#include "os/locality.hpp"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace tulle::os;

/// A folder that looks like /sys/devices/system.
class localities_of_files : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = ::testing::TempDir() + "tulle-system-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        m_system = name;
    }
    void TearDown() override { std::filesystem::remove_all(m_system); }

    void write(std::string const& file, std::string const& text) const {
        auto const path = m_system / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text << '\n';
    }
    void write_cache(int cpu, int level, std::string const& shared) const {
        std::string const index = "cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(level - 1);
        write(index + "/level", std::to_string(level));
        write(index + "/shared_cpu_list", shared);
    }
    [[nodiscard]] std::vector<locality> found() const { return sysfs_localities(m_system.string()); }

private:
    std::filesystem::path m_system;
};

TEST_F(localities_of_files, nodes_and_caches) {
    write("cpu/online", "0-3,6");
    write("node/online", "0-1");
    write("node/node0/cpulist", "0-1");
    write("node/node1/cpulist", "2-3,6-7");
    for (int const cpu : {0, 1, 2, 3}) {
        for (int const level : {1, 2}) write_cache(cpu, level, std::to_string(cpu));
        write_cache(cpu, 3, cpu == 2 ? "2,9" : "0-1,3");
    }
    std::vector<locality> const expected{{0, 0}, {0, 0}, {1, 2}, {1, 0}, k_unknown_locality, k_unknown_locality, {1, -1}};
    EXPECT_EQ(found(), expected);
}

TEST_F(localities_of_files, a_machine_without_nodes) {
    write("cpu/online", "0");
    EXPECT_EQ(found(), std::vector<locality>{locality{}});
}

TEST_F(localities_of_files, nothing_to_read) { EXPECT_TRUE(found().empty()); }

TEST_F(localities_of_files, nonsense_ends_a_list) {
    for (auto const* const list : {"", "x", "-5", "1-", "99999999999", "3-1"}) {
        write("cpu/online", list);
        EXPECT_LE(found().size(), 4U) << list;
    }
    write("cpu/online", "0-2000000000");
    EXPECT_EQ(found().size(), 8192U);
}

#if defined(TULLE_HAS_HWLOC)
// The numbers may differ; which CPUs have which of them in common must not.
TEST(locality, hwloc_and_the_files_agree) {
    auto const one = hwloc_localities();
    auto const other = sysfs_localities();
    for (std::size_t a = 0; a < one.size() && a < other.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            if (one[a] == k_unknown_locality || one[b] == k_unknown_locality) continue;
            EXPECT_EQ(one[a] == one[b], other[a] == other[b]) << "CPUs " << a << " and " << b;
        }
    }
    EXPECT_FALSE(one.empty());
    EXPECT_GE(other.size(), one.size());
}
#endif

} // namespace
