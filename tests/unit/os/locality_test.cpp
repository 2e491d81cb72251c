// SPDX-License-Identifier: Apache-2.0
#include "os/locality.hpp"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#if defined(TULLE_TEST_HAS_HWLOC)
#include <hwloc.h>
#endif

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
        std::string const index =
            "cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(level - 1);
        write(index + "/level", std::to_string(level));
        write(index + "/shared_cpu_list", shared);
    }
    [[nodiscard]] std::vector<locality> found() const { return find_localities(m_system.string()); }

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
    std::vector<locality> const expected{
        {0, 0}, {0, 0}, {1, 2}, {1, 0}, k_unknown_locality, k_unknown_locality, {1, -1}};
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

#if defined(TULLE_TEST_HAS_HWLOC)
struct machine {
    machine() {
        loaded = hwloc_topology_init(&topology) == 0 && hwloc_topology_load(topology) == 0;
    }
    ~machine() { hwloc_topology_destroy(topology); }
    machine(machine const&) = delete;
    machine& operator=(machine const&) = delete;

    // k_unknown_locality: hwloc does not tell this process.
    [[nodiscard]] locality of(std::size_t cpu) const {
        hwloc_obj_t const unit = hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(cpu));
        if (unit == nullptr) return k_unknown_locality;
        hwloc_obj_t above = unit->parent;
        while (above != nullptr && above->type != HWLOC_OBJ_L3CACHE) above = above->parent;
        int const node = unit->nodeset == nullptr ? -1 : hwloc_bitmap_first(unit->nodeset);
        return {node, above == nullptr ? -1 : static_cast<int>(above->logical_index)};
    }

    hwloc_topology_t topology = nullptr;
    bool loaded = false;
};

// The numbers may differ; which CPUs have which of them in common must not.
TEST(locality, hwloc_says_the_same) {
    machine const here;
    ASSERT_TRUE(here.loaded);
    auto const found = find_localities();
    EXPECT_NE(here.of(0), k_unknown_locality);
    for (std::size_t a = 0; a < found.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            if (here.of(a) == k_unknown_locality || here.of(b) == k_unknown_locality) continue;
            EXPECT_EQ(found[a] == found[b], here.of(a) == here.of(b))
                << "CPUs " << a << " and " << b;
        }
    }
    EXPECT_FALSE(found.empty());
}
#endif

} // namespace
